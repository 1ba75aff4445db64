/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class CachedCreateTest extends AbstractContractCreateTest {
  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new CacheContract(configuration);
  }
}
