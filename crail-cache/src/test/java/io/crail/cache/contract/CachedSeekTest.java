/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractSeekTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class CachedSeekTest extends AbstractContractSeekTest {
  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new CacheContract(configuration);
  }
}
