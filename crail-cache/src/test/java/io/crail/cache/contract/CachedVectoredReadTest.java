/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractVectoredReadTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class CachedVectoredReadTest extends AbstractContractVectoredReadTest {
  CachedVectoredReadTest(String bufferType) {
    super(bufferType);
  }

  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new CacheContract(configuration);
  }
}
