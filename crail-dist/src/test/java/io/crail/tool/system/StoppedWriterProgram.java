/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.model.Units;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A client whose threads only write large pieces, so that a stop hits some in the middle: {@code
 * <configuration file> <mapped> <directory> <threads> <bytes of a piece> <pieces of a file> <number
 * of this writer> <state file>}. Each thread creates, writes, closes and deletes files of its own
 * until an operation fails, and prints the failure. While it writes a piece, its byte of the state
 * file is 1.
 */
public final class StoppedWriterProgram {
  /** Files until the code that writes has been compiled. */
  private static final int WARM_UP = 20;

  private StoppedWriterProgram() {}

  /** Runs until all threads have failed. */
  public static void main(String[] arguments) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.createConfigurationFromFile(arguments[0]);
    configuration.set("crail.storage.localmap", arguments[1]);
    int threads = Integer.parseInt(arguments[3]);
    CountDownLatch warm = new CountDownLatch(threads);
    MappedByteBuffer state = map(Path.of(arguments[7]), threads);
    try (CrailStore store = CrailStore.newInstance(configuration)) {
      Thread[] all = new Thread[threads];
      for (int i = 0; i < threads; i++) {
        int thread = i;
        all[i] =
            new Thread(
                () -> write(store, arguments, thread, state, warm::countDown), "writer-" + i);
        all[i].start();
      }
      warm.await();
      System.out.println("writing");
      for (Thread thread : all) {
        thread.join();
      }
    }
  }

  private static MappedByteBuffer map(Path file, int length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
    }
  }

  private static void write(
      CrailStore store, String[] arguments, int thread, MappedByteBuffer state, Runnable warm) {
    String path = arguments[2] + "/" + thread;
    ByteBuffer piece = ByteBuffer.allocateDirect(Integer.parseInt(arguments[4]));
    long id = Units.id(Integer.parseInt(arguments[6]), thread);
    Units.fill(piece, id, id, 0);
    int pieces = Integer.parseInt(arguments[5]);
    String outcome;
    int files = 0;
    try {
      while (true) {
        writeFile(store, path, piece, pieces, state, thread);
        if (++files == WARM_UP) {
          warm.run();
        }
        store.delete(path, false).get(60, TimeUnit.SECONDS);
      }
    } catch (Exception e) {
      outcome = e.toString();
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CrailException) {
          outcome = ((CrailException) cause).code() + " " + ((CrailException) cause).detail();
          break;
        }
      }
    }
    System.out.println("thread " + thread + " ended after " + files + " files: " + outcome);
  }

  private static void writeFile(
      CrailStore store,
      String path,
      ByteBuffer piece,
      int pieces,
      MappedByteBuffer state,
      int thread)
      throws Exception {
    CrailFile file = DataFiles.create(store, path);
    CrailOutputStream out = file.getDirectOutputStream((long) piece.capacity() * pieces);
    try {
      for (int i = 0; i < pieces; i++) {
        state.put(thread, (byte) 1);
        out.write(OffHeapBuffer.wrap(piece.duplicate())).get(60, TimeUnit.SECONDS);
        state.put(thread, (byte) 0);
      }
    } finally {
      out.close();
    }
  }
}
