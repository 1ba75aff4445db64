/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Values whose bytes all lie at datanodes, over TCP. */
class TcpLargeKeyValueTest extends KeyValueContract {
  TcpLargeKeyValueTest() {
    super(TestCluster.Tier.TCP, "crail.namenode.smallvalue=0");
  }
}
