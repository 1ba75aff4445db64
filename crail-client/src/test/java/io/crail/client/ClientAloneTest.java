/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.storage.StorageTier;
import org.junit.jupiter.api.Test;

/** A program that depends on this module alone. */
class ClientAloneTest {
  @Test
  void reachesDatanodesOnOtherHosts() {
    assertEquals("tcp", StorageTier.find("tcp").name());
  }
}
