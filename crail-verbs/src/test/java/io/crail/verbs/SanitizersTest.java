/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The layer between Java and C, with the sanitizers for addresses and undefined behaviour. */
@Timeout(120)
class SanitizersTest {
  @Test
  void whatNeedsNoDevice() throws Exception {
    Sanitizers.run(VerbsTest.class, DisniArgumentsTest.class);
  }

  /** The sanitizers know which memory Java has allocated, and end the JVM. */
  @Test
  void bytesBehindABufferAreNotRead() throws Exception {
    Sanitizers.End end = Sanitizers.java(BeyondABuffer.class.getName());
    assertNotEquals(0, end.status(), end.output());
    assertTrue(end.output().contains("AddressSanitizer: heap-buffer-overflow"), end.output());
    assertTrue(end.output().contains("Verbs_qpNumber"), end.output());
  }

  /** Passes memory that is shorter than a queue pair. */
  static final class BeyondABuffer {
    private BeyondABuffer() {}

    public static void main(String[] args) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(8);
      System.out.println(Verbs.qpNumber(Verbs.addressOf(buffer)));
    }
  }
}
