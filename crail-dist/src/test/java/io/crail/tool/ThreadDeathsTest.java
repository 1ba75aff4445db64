/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Threads;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.ThreadDeaths;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The end of a server's process after the death of one of its threads. */
@Tag("once")
class ThreadDeathsTest {
  private static final String CLEAN = "all is cleaned up";

  /** A server whose thread dies of what the argument says. */
  static final class Server {
    private Server() {}

    public static void main(String[] arguments) throws Exception {
      try (ShutdownGate gate = ShutdownGate.open();
          ThreadDeaths deaths = ThreadDeaths.endTheProcess()) {
        if (arguments[0].equals("hook")) {
          gate.onAsked(() -> fail("exception"));
          System.exit(0);
        }
        Threads.daemon("victim", () -> fail(arguments[0])).start();
        gate.await();
        System.out.println(CLEAN);
      }
    }

    private static void fail(String what) {
      switch (what) {
        case "assertion" -> throw new AssertionError("a bug");
        case "exception" -> throw new IllegalStateException("a bug");
        default -> {
          byte[][] all = new byte[1 << 20][];
          for (int i = 0; ; i++) {
            all[i] = new byte[1 << 20];
          }
        }
      }
    }
  }

  private record End(int exitCode, String output) {}

  private static End run(String what) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                // As the logging of servers is set. Else it may end before the hook has logged.
                "-Dlog4j2.shutdownHookEnabled=false",
                "-cp",
                System.getProperty("java.class.path"),
                Server.class.getName(),
                what)
            .redirectErrorStream(true)
            .start();
    CountDownLatch read = new CountDownLatch(1);
    StringBuilder output = new StringBuilder();
    Thread reader =
        new Thread(
            () -> {
              try {
                output.append(
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
              } catch (IOException e) {
                output.append(e);
              }
              read.countDown();
            });
    reader.start();
    try {
      assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the process lives on without its thread");
      assertTrue(read.await(60, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    return new End(process.exitValue(), output.toString());
  }

  @Test
  void aFullHeapEndsTheProcessAtOnce() throws Exception {
    End end = run("memory");
    assertEquals(ExitCode.DEAD_THREAD, end.exitCode, end.output);
    assertTrue(end.output.contains("OutOfMemoryError"), end.output);
  }

  /** The process would otherwise wait for a hook that waits for the end of the process. */
  @Test
  void aBugInTheCleanUpDoesNotHoldTheEndUp() throws Exception {
    End end = run("hook");
    assertEquals(0, end.exitCode, end.output);
    assertTrue(end.output.contains("a bug"), end.output);
  }

  @Test
  void aBugEndsTheProcessInOrder() throws Exception {
    for (String what : new String[] {"assertion", "exception"}) {
      End end = run(what);
      assertEquals(ExitCode.DEAD_THREAD, end.exitCode, end.output);
      assertTrue(end.output.contains("the thread victim has died"), end.output);
      assertTrue(end.output.contains("a bug"), end.output);
      assertTrue(end.output.contains(CLEAN), end.output);
    }
  }
}
