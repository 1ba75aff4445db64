/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MemoryFootprintTest {
  private static final double LIMIT = 200;

  @Test
  void anEmptyFileIsSmall() throws Exception {
    double bytes = MemoryFootprint.bytesPerFile(1_000_000);
    System.out.println(bytes + " bytes per file");
    assertTrue(bytes < LIMIT, bytes + " bytes per file");
    assertTrue(bytes > 64, "measured nothing: " + bytes);
  }
}
