/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Programs of Apache Crail over TCP. */
class TcpApacheCrailProgramTest extends ApacheCrailProgramContract {
  TcpApacheCrailProgramTest() {
    super(TestCluster.Tier.TCP);
  }
}
