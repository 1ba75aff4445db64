/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.model.Units;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Future;

/**
 * A client that writes without an end: {@code <configuration file> <path> <id> <seed>}. It creates
 * a file and writes units of that id in pieces of random lengths, many at a time, syncs now and
 * then, and prints how much is committed.
 */
final class SyncingWriterProgram {
  private static final int LONGEST_PIECE = 20_000;
  private static final int MOST_IN_FLIGHT = 8;
  private static final int PIECES_OF_A_SYNC = 20;

  private SyncingWriterProgram() {}

  /** Runs until it is killed. */
  public static void main(String[] arguments) throws Exception {
    CrailStore store =
        CrailStore.newInstance(CrailConfiguration.createConfigurationFromFile(arguments[0]));
    CrailFile file = DataFiles.create(store, arguments[1]);
    long id = Long.parseLong(arguments[2]);
    Random random = new Random(Long.parseLong(arguments[3]));
    CrailOutputStream out = file.getDirectOutputStream(0);
    long position = 0;
    while (true) {
      Queue<Future<CrailResult>> writes = new ArrayDeque<>();
      int pieces = 1 + random.nextInt(PIECES_OF_A_SYNC);
      for (int i = 0; i < pieces; i++) {
        if (writes.size() == MOST_IN_FLIGHT) {
          writes.remove().get();
        }
        ByteBuffer piece = ByteBuffer.allocateDirect(1 + random.nextInt(LONGEST_PIECE));
        Units.fill(piece, id, id, position);
        position += piece.capacity();
        writes.add(out.write(OffHeapBuffer.wrap(piece)));
      }
      for (Future<CrailResult> write : writes) {
        write.get();
      }
      out.sync().get();
      System.out.println("committed " + position);
    }
  }
}
