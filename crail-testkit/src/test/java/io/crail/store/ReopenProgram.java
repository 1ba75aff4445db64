/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A program that opens a store, reads, writes and closes again and again: {@code <namenode address>
 * <rounds> <settings>}. It prints what its process has after some rounds, and at the end.
 */
final class ReopenProgram {
  private static final int WARM_UP = 100;
  private static final int LENGTH = 3 << 20;

  private ReopenProgram() {}

  public static void main(String[] arguments) throws Exception {
    CrailConfiguration configuration = new CrailConfiguration();
    configuration.set("crail.namenode.address", arguments[0]);
    for (String setting : List.of(arguments).subList(2, arguments.length)) {
      int equals = setting.indexOf('=');
      configuration.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    int rounds = Integer.parseInt(arguments[1]);
    try (CrailStore first = CrailStore.newInstance(configuration)) {
      Bytes.write(first, "/read", new byte[LENGTH]);
      Bytes.write(first, "/written", new byte[1]);
    }
    long threads = Long.MAX_VALUE;
    for (int i = 0; i < rounds; i++) {
      round(configuration);
      if (i == WARM_UP || i == rounds - 1) {
        threads = threads(threads);
        report(threads);
      }
    }
  }

  private static void round(CrailConfiguration configuration) throws Exception {
    try (CrailStore store = CrailStore.newInstance(configuration)) {
      CrailFile file = store.lookup("/read").get().asFile();
      try (CrailBufferedInputStream buffered = file.getBufferedInputStream(LENGTH)) {
        if (buffered.readAllBytes().length != LENGTH) {
          throw new IOException("a short file");
        }
      }
      CrailBuffer buffer = store.allocateBuffer();
      CrailInputStream in = file.getDirectInputStream(LENGTH);
      in.read(buffer).get();
      in.close();
      store.freeBuffer(buffer);
      Bytes.append(store.lookup("/written").get().asFile(), new byte[100]);
    }
  }

  /** The number of threads. One that has ended may be there for a while. */
  private static long threads(long most) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    long now = status("Threads");
    while (now > most && System.nanoTime() - deadline < 0) {
      Thread.sleep(10);
      now = status("Threads");
    }
    return now;
  }

  private static void report(long threads) throws IOException {
    System.out.println(
        "figures "
            + status("VmSize")
            + " "
            + status("VmRSS")
            + " "
            + threads
            + " "
            + entries("/proc/self/fd")
            + " "
            + lines("/proc/self/maps", "")
            + " "
            + lines("/proc/self/maps", "/region-"));
  }

  private static long status(String key) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith(key + ":")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("no " + key);
  }

  private static long entries(String directory) throws IOException {
    try (Stream<Path> all = Files.list(Path.of(directory))) {
      return all.count();
    }
  }

  private static long lines(String file, String part) throws IOException {
    return Files.readAllLines(Path.of(file)).stream().filter(line -> line.contains(part)).count();
  }
}
