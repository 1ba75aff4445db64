/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.config.Configuration;
import io.crail.rpc.Frame;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.darpc.DarpcTransport;
import io.crail.testkit.contract.EchoService;
import io.crail.testkit.rdma.OtherPrograms;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server of the RDMA transport as the kernel sees it start, in a process of its own. */
@Tag("rdma")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class DarpcStartTest {
  /** Longer where the machine is emulated. */
  private static final int PATIENCE_SECONDS = Integer.getInteger("crail.test.patience", 120);

  /** Another process says it: this one may be bound to fewer than it may have. */
  @BeforeEach
  void needsTheFirstTwoProcessors() throws Exception {
    String allowed =
        OtherPrograms.run(
                PATIENCE_SECONDS,
                "taskset",
                "-c",
                "0,1",
                "grep",
                "Cpus_allowed_list",
                "/proc/self/status")
            .output();
    assumeTrue(allowed.endsWith("\t0-1\n"), "processors 0 and 1 may not be used: " + allowed);
  }

  /**
   * What a process says that has begun to serve with such threads, if it has.
   *
   * @param before what starts it
   * @param settings for each time that it serves the key's value, and the processors that it may
   *     use then, as bits
   */
  private static List<String> serve(List<String> before, String... settings) throws Exception {
    List<String> command = new ArrayList<>(before);
    command.addAll(
        List.of(
            ProcessHandle.current().info().command().orElseThrow(),
            "-XX:TieredStopAtLevel=1",
            "-Djava.library.path=" + System.getProperty("java.library.path"),
            "-Dcrail.test.rdma.server=" + RdmaHost.SERVER,
            "-cp",
            System.getProperty("java.class.path"),
            Server.class.getName()));
    command.addAll(List.of(settings));
    Process child =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    // Which ends its output, too.
    CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .execute(child::destroyForcibly);
    try {
      String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return output.lines().toList();
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  /** Says which processors its threads may use, or why there are none. */
  static final class Server {
    public static void main(String[] arguments) throws Exception {
      for (int i = 0; i < arguments.length; i += 2) {
        serve(arguments[i], Long.parseLong(arguments[i + 1]));
      }
    }

    private static void serve(String affinity, long processors) throws Exception {
      // Here alone, for on an emulated machine a JVM that uses several processors may crash.
      assertEquals(0, Verbs.setAffinity(new long[] {processors}));
      try (Transport transport =
              new DarpcTransport(
                  Configuration.builder()
                      .set(DarpcKeys.AFFINITY, affinity)
                      .set(WaitKeys.SPIN_TIME, 0)
                      .build());
          Transport.ServerEndpoint server =
              transport.listen(
                  "pin", new InetSocketAddress(RdmaHost.SERVER, 0), new EchoService())) {
        TreeMap<String, String> seen = new TreeMap<>();
        // A thread has its name, and then its processor, soon after it was started.
        String list = affinity.equals("none") ? ".*" : "\\d+";
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (System.nanoTime() - deadline < 0 && !areThere(seen, processors, list)) {
          seen = threads();
          Thread.sleep(20);
        }
        System.out.println(seen);
      } catch (RuntimeException | IOException e) {
        System.out.println(e.getMessage());
      }
    }

    private static boolean areThere(TreeMap<String, String> seen, long processors, String list) {
      return seen.size() == Long.bitCount(processors)
          && seen.values().stream().allMatch(each -> each.matches(list));
    }

    private static TreeMap<String, String> threads() throws IOException {
      TreeMap<String, String> found = new TreeMap<>();
      try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
        for (Path task : tasks.toList()) {
          try {
            String name = Files.readString(task.resolve("comm")).strip();
            if (name.matches("crail-pin-\\d+")) {
              found.put(name, processors(task.resolve("status")));
            }
          } catch (UncheckedIOException | java.nio.file.NoSuchFileException e) {
            // One that has ended meanwhile.
          }
        }
      }
      return found;
    }

    private static String processors(Path status) throws IOException {
      return Files.readAllLines(status).stream()
          .filter(line -> line.startsWith("Cpus_allowed_list:"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElseThrow();
    }
  }

  private static final String BOTH = "3";
  private static final String SECOND = "2";

  @Test
  void eachThreadHasItsOwnProcessorByDefault() throws Exception {
    List<String> said = serve(List.of(), "", BOTH, "1,0", BOTH, "none", BOTH, "", SECOND);
    // They begin with any of them.
    assertTrue(
        said.get(0).equals("{crail-pin-0=0, crail-pin-1=1}")
            || said.get(0).equals("{crail-pin-0=1, crail-pin-1=0}"),
        said::toString);
    assertEquals(
        List.of(
            "{crail-pin-0=1, crail-pin-1=0}",
            "{crail-pin-0=0-1, crail-pin-1=0-1}",
            "{crail-pin-0=1}"),
        said.subList(1, said.size()));
  }

  /** Root may lock what it likes, unless that right is taken away. */
  @Test
  void memoryThatMayNotBeLockedIsNamed() throws Exception {
    List<String> said =
        serve(
            List.of("setpriv", "--bounding-set", "-ipc_lock", "prlimit", "--memlock=262144"),
            "none",
            SECOND);
    assertEquals(1, said.size(), said::toString);
    String text = said.get(0);
    // 32 messages of 4 KiB, and two frames to send; each may share a page at both ends.
    int bytes = (34 + 2 * Frame.MAX_LENGTH / 4096 + 1) * 4096;
    assertTrue(
        text.contains("may lock 262144 bytes of memory but means to register " + bytes), text);
    assertTrue(text.contains("ulimit -l"), text);
    List<String> enough =
        serve(
            List.of("setpriv", "--bounding-set", "-ipc_lock", "prlimit", "--memlock=1048576"),
            "none",
            SECOND);
    assertTrue(enough.get(0).startsWith("{crail-pin-0="), enough::toString);
  }
}
