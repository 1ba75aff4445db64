/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractConcatTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.jupiter.api.Tag;

/** Crail does not concatenate files. The suite skips each test for that reason. */
@Tag("once")
class ConcatContractTest extends AbstractContractConcatTest {
  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new CrailContract(configuration);
  }
}
