/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** The machine that is measured, and its load by other programs. */
public final class Machine {
  /** The unit of /proc, whatever the kernel counts with. */
  private static final double TICKS_PER_SECOND = 100;

  /** The state of an open connection in the kernel's tables. */
  private static final String ESTABLISHED = "01";

  private static final double KIB_PER_GIB = 1024 * 1024;

  private Machine() {}

  /** One line: processors, memory, kernel, Java. */
  public static String describe() throws IOException {
    return String.format(
        Locale.ROOT,
        "%d x %s, %.0f GiB, Linux %s, Java %s",
        Runtime.getRuntime().availableProcessors(),
        field("/proc/cpuinfo", "model name"),
        Long.parseLong(field("/proc/meminfo", "MemTotal").replace(" kB", "")) / KIB_PER_GIB,
        System.getProperty("os.version"),
        Runtime.version());
  }

  /** How many processors were busy on average for some time, as a fraction. */
  public static double busyProcessors(long millis) throws IOException, InterruptedException {
    long[] before = processorTimes();
    Thread.sleep(millis);
    return busyShare(before, processorTimes()) * Runtime.getRuntime().availableProcessors();
  }

  /** The busy part of the time between two readings of total and idle time, from 0 to 1. */
  public static double busyShare(long[] before, long[] after) {
    double total = after[0] - before[0];
    double idle = after[1] - before[1];
    // The kernel's idle time may decrease.
    return total <= 0 ? 0 : Math.max(0, Math.min(1, (total - idle) / total));
  }

  /** Total and idle time of all processors, in ticks. */
  private static long[] processorTimes() throws IOException {
    String line = Files.readAllLines(Path.of("/proc/stat")).get(0);
    String[] fields = line.trim().split("\\s+");
    long total = 0;
    // user nice system idle iowait irq softirq steal; guest time is within user time.
    for (int i = 1; i <= 8; i++) {
      total += Long.parseLong(fields[i]);
    }
    return new long[] {total, Long.parseLong(fields[4]) + Long.parseLong(fields[5])};
  }

  /** Processor time of a process so far, in user and in system mode. */
  public static double processorSeconds(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.US_ASCII);
    // After the name, which may hold blanks: state is field 3, user time 14, system time 15.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
  }

  /** Open connections to a port of this host, over IPv4 or IPv6. */
  public static int connectionsTo(int port) throws IOException {
    int count = 0;
    for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      if (Files.exists(Path.of(table))) {
        count += connectionsTo(port, Files.readAllLines(Path.of(table)));
      }
    }
    return count;
  }

  /** Counts them in a table of the kernel: number, local address and port, remote ones, state. */
  public static int connectionsTo(int port, List<String> table) {
    String own = String.format(Locale.ROOT, ":%04X", port);
    int count = 0;
    for (String line : table) {
      String[] fields = line.trim().split("\\s+");
      if (fields.length > 3 && fields[1].endsWith(own) && fields[3].equals(ESTABLISHED)) {
        count++;
      }
    }
    return count;
  }

  private static String field(String file, String name) throws IOException {
    List<String> lines = Files.readAllLines(Path.of(file));
    for (String line : lines) {
      if (line.startsWith(name)) {
        return line.substring(line.indexOf(':') + 1).trim();
      }
    }
    return "unknown";
  }
}
