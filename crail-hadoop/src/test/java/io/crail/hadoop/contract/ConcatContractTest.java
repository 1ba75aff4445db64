/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractConcatTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** Files are not put together; the suite says so test by test. */
class ConcatContractTest extends AbstractContractConcatTest {
  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new CrailContract(configuration);
  }
}
