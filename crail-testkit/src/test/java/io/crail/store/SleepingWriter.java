/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.conf.CrailConfiguration;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * A program that writes files of ones in a process of its own, which can be stopped in the middle
 * of it and go on. It says in lines how far it is, and ends when its input does.
 */
final class SleepingWriter implements AutoCloseable {
  private static final int PATIENCE_SECONDS = Integer.getInteger("crail.test.patience", 60);
  private static final int MIB = 1 << 20;
  private static final int PIECES = 4;
  private static final long FAILURE_PAUSE_NANOS = 50_000_000;

  private final Process process;
  private final BufferedReader output;

  private SleepingWriter(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /**
   * Starts it.
   *
   * @param what "once" writes a few pieces into /slept on request; a number lets so many threads
   *     write files /slept... on and on
   * @param settings {@code key=value} each
   */
  static SleepingWriter start(String what, String... settings) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                // Emulated machines crash JVMs that move between processors.
                "taskset",
                "-c",
                "0",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Djava.library.path=" + System.getProperty("java.library.path"),
                "-cp",
                System.getProperty("java.class.path"),
                SleepingWriter.class.getName(),
                what));
    command.addAll(List.of(settings));
    return new SleepingWriter(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** Waits for a line that begins so; gives the rest of it. */
  String await(String begin) throws IOException {
    Executor later = CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    Future<?> limit = CompletableFuture.runAsync(process::destroyForcibly, later);
    try {
      String line = output.readLine();
      while (line != null && !line.startsWith(begin)) {
        if (line.startsWith("broken")) {
          throw new IOException("the writer is " + line);
        }
        line = output.readLine();
      }
      if (line == null) {
        throw new IOException("the writer has ended before it said " + begin);
      }
      return line.substring(begin.length()).strip();
    } finally {
      limit.cancel(false);
    }
  }

  /** Lets it go on where it waits for a word. */
  void proceed() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  /** Stops the process wherever it is. */
  void stop() throws Exception {
    signal("STOP");
  }

  /** Lets it run on. */
  void resume() throws Exception {
    signal("CONT");
  }

  private void signal(String name) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, "" + process.pid()).inheritIO().start();
    if (!kill.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new AssertionError("no signal " + name);
    }
  }

  @Override
  public void close() throws Exception {
    process.destroyForcibly();
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("the process survived");
    }
  }

  /** What runs in the process. */
  public static void main(String[] arguments) throws Exception {
    CrailConfiguration configuration = new CrailConfiguration();
    for (int i = 1; i < arguments.length; i++) {
      int equals = arguments[i].indexOf('=');
      configuration.set(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
    }
    try (CrailStore store = CrailStore.newInstance(configuration)) {
      if (arguments[0].equals("once")) {
        writeOnce(store);
      } else {
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
          int number = i;
          Thread thread = new Thread(() -> writeOn(store, number));
          thread.setDaemon(true);
          thread.start();
        }
        awaitWord();
      }
    }
  }

  private static void awaitWord() throws IOException {
    if (System.in.read() < 0) {
      throw new IOException("no process is there any more");
    }
  }

  private static byte[] ones(int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) 1);
    return bytes;
  }

  private static void writeOnce(CrailStore store) throws Exception {
    CrailOutputStream output = open(store);
    System.out.println("ready");
    awaitWord();
    List<Future<CrailResult>> writes = new ArrayList<>();
    for (int i = 0; i < PIECES; i++) {
      writes.add(output.write(Bytes.buffer(ones(MIB / 2))));
    }
    try {
      // Whoever waits drives the loop, so all that can be posted is posted.
      writes.get(0).get(1, TimeUnit.SECONDS);
      System.out.println("posted, and done");
    } catch (TimeoutException e) {
      System.out.println("posted");
    }
    int failed = 0;
    for (Future<CrailResult> write : writes) {
      try {
        write.get();
      } catch (Exception e) {
        failed++;
      }
    }
    System.out.println("failed " + failed);
    try {
      output.close();
    } catch (IOException e) {
      System.out.println("closed " + e.getClass().getSimpleName());
    }
    Bytes.write(store, "/awake", ones(MIB));
    System.out.println("awake");
    awaitWord();
  }

  /** Opens the file, all that is needed for its writes being there already. */
  private static CrailOutputStream open(CrailStore store) throws Exception {
    while (true) {
      CrailOutputStream output =
          Bytes.createFile(store, "/slept").getDirectOutputStream((PIECES + 1) * MIB);
      try {
        output.write(Bytes.buffer(ones(10))).get();
        return output;
      } catch (ExecutionException | CrailException e) {
        // On an emulated machine to load the classes takes longer than a lease.
        try {
          output.close();
        } catch (CrailException late) {
          // So it says there, too.
        }
        store.delete("/slept", false).get();
      }
    }
  }

  private static void writeOn(CrailStore store, int number) {
    for (int i = 0; ; i++) {
      try {
        writeFile(store, "/slept-" + number + "-" + i, number);
      } catch (ExecutionException | CrailException e) {
        System.out.println("failed " + number + " " + e.getMessage());
        LockSupport.parkNanos(FAILURE_PAUSE_NANOS);
      } catch (Exception e) {
        System.out.println("broken " + number + " " + e);
        return;
      }
    }
  }

  private static void writeFile(CrailStore store, String path, int number) throws Exception {
    CrailOutputStream output = Bytes.createFile(store, path).getDirectOutputStream(PIECES * MIB);
    try {
      for (int piece = 0; piece < PIECES; piece++) {
        output.write(Bytes.buffer(ones(MIB))).get();
        System.out.println("wrote " + number);
      }
    } finally {
      output.close();
    }
    store.delete(path, false).get();
  }
}
