/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Buffered streams over TCP, which takes any memory without registering it. */
class TcpBufferedStreamTest {
  private static final int SLICE = 64 << 10;

  /** They are copied neither into slices nor out of them, but for what keeps the network busy. */
  @Test
  void largeDirectBuffersTravelAsTheyAre() throws Exception {
    try (TestCluster cluster = TestCluster.start("crail.buffersize=128k", "crail.slicesize=64k")) {
      CrailStore counted = cluster.newStore("crail.storage.localmap=false");
      byte[] bytes = Bytes.random(new Random(Bytes.seed("straight")), 16 * SLICE);
      ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
      CrailFile file = Bytes.createFile(counted, "/straight");
      try (CrailBufferedOutputStream output = file.getBufferedOutputStream(bytes.length)) {
        // Then it is known where the rest goes.
        output.write(direct.slice(0, SLICE));
        output.purge().get();
        output.write(direct.position(SLICE));
        assertEquals(bytes.length, direct.position());
      }
      String written = counted.getStatistics().describe("buffered/out");
      assertTrue(written.contains("totalOps 3, "), written);
      ByteBuffer got = ByteBuffer.allocateDirect(bytes.length);
      // A lookup says where it is.
      CrailFile found = counted.lookup("/straight").get().asFile();
      try (CrailBufferedInputStream input = found.getBufferedInputStream(bytes.length)) {
        assertEquals(bytes.length, input.read(got));
        assertEquals(bytes.length, input.position());
      }
      assertEquals(got.flip(), ByteBuffer.wrap(bytes));
      String read = counted.getStatistics().describe("buffered/in");
      assertTrue(read.contains("totalOps 1, "), read);
    }
  }
}
