/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.testkit.rdma.RdmaHost;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What the kernel counts of the machine's RDMA devices. */
final class RdmaResources {
  private RdmaResources() {}

  /** Queue pairs, completion queues, regions, ids and protection domains, as text to compare. */
  static String open() {
    try {
      // A context stays open as long as the process.
      return run("rdma", "resource", "show").replaceAll("ctx \\d+", "").strip();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** How often a message found no receive request, on all devices. */
  static long notReady() {
    long count = 0;
    for (String device : RdmaHost.DEVICES) {
      for (String counter : List.of("rcvd_rnr_err", "send_rnr_err")) {
        Path file = Path.of("/sys/class/infiniband", device, "ports/1/hw_counters", counter);
        // Others than soft-RoCE count by other names, if at all.
        if (!device.startsWith("rxe") && Files.notExists(file)) {
          continue;
        }
        try (Stream<String> lines = Files.lines(file)) {
          count += lines.mapToLong(Long::parseLong).sum();
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      }
    }
    return count;
  }

  /**
   * Has all that comes to the second device get lost, requests and acknowledgements. Other than
   * with a link that is down, or a neighbour whose address has changed, no end is reported.
   */
  static void cutCable() throws IOException {
    run("ip", "rule", "add", "pref", "1", "iif", "rv1", "blackhole");
  }

  /** Has packets arrive again. */
  static void mendCable() throws IOException {
    run("ip", "rule", "del", "pref", "1", "iif", "rv1", "blackhole");
  }

  /** Runs a command to its end; gives its output. */
  static String run(String... command) throws IOException {
    List<String> limited = new ArrayList<>(List.of("timeout", "-s", "KILL", "60"));
    limited.addAll(List.of(command));
    Process process = new ProcessBuilder(limited).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    return output;
  }
}
