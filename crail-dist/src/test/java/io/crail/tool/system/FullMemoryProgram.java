/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A cluster in a small /dev/shm. After the datanode has started with sparse files, other data fills
 * /dev/shm. {@link FullMemorySystemTest} runs it where /dev/shm may be replaced.
 *
 * <pre>
 * FullMemoryProgram mapped
 * </pre>
 */
final class FullMemoryProgram {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final int MIB = 1 << 20;

  /** Writes after which what is written to has been compiled. */
  private static final int WARM_UP = 20_000;

  private final ProcessCluster cluster;
  private final boolean mapped;
  private final byte[] bytes = new byte[MIB];

  private FullMemoryProgram(ProcessCluster cluster, boolean mapped) {
    this.cluster = cluster;
    this.mapped = mapped;
    new Random(1).nextBytes(bytes);
  }

  /** Runs it; ends with an exception when something is wrong. */
  public static void main(String[] args) throws Exception {
    try (ProcessCluster cluster = ProcessCluster.startLogging(1, 1)) {
      new FullMemoryProgram(cluster, Boolean.parseBoolean(args[0])).run();
    }
    System.out.println("passed");
  }

  private void run() throws Exception {
    CrailStore writer = open();
    CrailStore other = open();
    try {
      warmUp(writer);
      write(writer, "/before");
      Path ballast = fill();
      for (int i = 0; i < 3; i++) {
        check(failure(() -> write(writer, "/buffered")) == ErrorCode.NO_SPACE, "buffered");
        check(failure(() -> writeDirect(writer)) == ErrorCode.NO_SPACE, "direct");
        // It was this write alone.
        check(Arrays.equals(bytes, read(writer, "/before")), "the writer reads other bytes");
        check(Arrays.equals(bytes, read(other, "/before")), "another client reads other bytes");
      }
      check(
          cluster.namenode(0).stderr().contains("its file system is full"),
          "the namenode does not say why:\n" + cluster.namenode(0).stderr());
      Files.delete(ballast);
      write(other, "/after");
      check(Arrays.equals(bytes, read(writer, "/after")), "other bytes once there was room again");
      check(cluster.datanode(0).isAlive(), "the datanode has ended");
      check(
          !cluster.datanode(0).stderr().contains("Error"),
          "the datanode had an error:\n" + cluster.datanode(0).stderr());
    } finally {
      writer.close();
      other.close();
    }
  }

  private CrailStore open() throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration("crail.storage.localmap", String.valueOf(mapped))));
  }

  private static CrailFile create(CrailStore store, String path) throws Exception {
    if (store.lookup(path).get(60, TimeUnit.SECONDS) != null) {
      store.delete(path, false).get(60, TimeUnit.SECONDS);
    }
    return DataFiles.create(store, path);
  }

  private static void warmUp(CrailStore store) throws Exception {
    OffHeapBuffer one = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(8));
    CrailOutputStream out = create(store, "/warm").getDirectOutputStream(WARM_UP * 8L);
    for (int i = 0; i < WARM_UP; i++) {
      one.clear();
      out.write(one).get(60, TimeUnit.SECONDS);
    }
    out.close();
  }

  private void write(CrailStore store, String path) throws Exception {
    try (CrailBufferedOutputStream out = create(store, path).getBufferedOutputStream(0)) {
      out.write(bytes);
    }
  }

  private void writeDirect(CrailStore store) throws Exception {
    ByteBuffer memory = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    CrailOutputStream out = create(store, "/direct").getDirectOutputStream(bytes.length);
    try {
      out.write(OffHeapBuffer.wrap(memory)).get(60, TimeUnit.SECONDS);
    } finally {
      out.close();
    }
  }

  private static byte[] read(CrailStore store, String path) throws Exception {
    CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      in.transferTo(all);
      return all.toByteArray();
    }
  }

  /** Takes all memory that is left. */
  private static Path fill() throws IOException {
    Path ballast = MEMORY.resolve("ballast");
    try (FileChannel channel =
        FileChannel.open(ballast, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (int step : new int[] {MIB, 4096}) {
        ByteBuffer piece = ByteBuffer.allocateDirect(step);
        try {
          while (channel.size() < 1L << 30) {
            channel.write(piece.clear());
          }
          throw new AssertionError(MEMORY + " is larger than it should be");
        } catch (IOException e) {
          // It is full.
        }
      }
    }
    return ballast;
  }

  private interface Action {
    void run() throws Exception;
  }

  private static ErrorCode failure(Action action) {
    try {
      action.run();
    } catch (Exception e) {
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CrailException) {
          return ((CrailException) cause).code();
        }
      }
      throw new AssertionError("an error without a type", e);
    }
    throw new AssertionError("a write without memory has succeeded");
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
