/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.crail.common.DirectMemory;
import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ClosedSegments;
import io.crail.namenode.log.Snapshots;
import io.crail.protocol.ClusterKeys;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Makes snapshots in a process of its own, so that neither the heap nor the processors of the
 * namenode that serves are needed for it: it gets the same memory, and a low priority. The process
 * only adds files to the directory, whose lock it does not have; this one decides what they are
 * worth. It ends when this one does. Thread-safe.
 */
final class CheckpointProcess implements Checkpoints.Maker {
  /** How long it may take. On a host that has much else to do, a million nodes need a minute. */
  private static final long DEADLINE_SECONDS = 3600;

  private static final long LOOK_MILLIS = 100;
  private static final int LAST_LINES = 20;
  private static final String NICE = "nice";
  private static final List<String> OPTIONS_OF_PARENT =
      List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS");

  private final Path directory;
  private final Configuration conf;
  private final NameNodeOptions options;
  private final long fileBytes;

  /**
   * Starts nothing yet.
   *
   * @param fileBytes most bytes of a file
   */
  CheckpointProcess(Path directory, Configuration conf, NameNodeOptions options, long fileBytes) {
    this.directory = directory;
    this.conf = conf;
    this.options = options;
    this.fileBytes = fileBytes;
  }

  @Override
  public Snapshots.Size make(ClosedSegments closed, String name, BooleanSupplier isEnded)
      throws IOException {
    CheckpointMain.Order order =
        new CheckpointMain.Order(
            directory.toString(),
            closed,
            name,
            fileBytes,
            options.index(),
            options.count(),
            settings());
    Process process = start();
    try {
      Output output = new Output(process);
      Thread reader = Threads.daemon("crail-namenode-checkpoint-output", output);
      reader.start();
      // Open until the end: that it is closed tells the process of the end of this one.
      DataOutputStream orders = new DataOutputStream(process.getOutputStream());
      order.write(orders);
      await(process, isEnded);
      reader.join(TimeUnit.SECONDS.toMillis(30));
      if (process.exitValue() != 0 || output.size() == null) {
        throw new IOException(
            "its process ended with " + process.exitValue() + ": " + output.lastLines());
      }
      return output.size();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted");
    } finally {
      end(process);
    }
  }

  private Process start() throws IOException {
    List<String> java = new ArrayList<>();
    java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    java.add("-Xmx" + mostHeap());
    java.add("-XX:MaxDirectMemorySize=" + DirectMemory.mostBytes());
    // One thread that collects, however many processors there are.
    java.add("-XX:+UseSerialGC");
    java.add(CheckpointMain.class.getName());
    List<String> nice = new ArrayList<>(List.of(NICE, "-n", "19"));
    nice.addAll(java);
    try {
      return start(nice);
    } catch (IOException e) {
      // There is no such program.
      return start(java);
    }
  }

  private static Process start(List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeAll(OPTIONS_OF_PARENT);
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    return builder.start();
  }

  private static String mostHeap() {
    try {
      return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .getVMOption("MaxHeapSize")
          .getValue();
    } catch (RuntimeException | LinkageError e) {
      // A JVM of another make, or without the module, does not say.
      return Long.toString(Runtime.getRuntime().maxMemory());
    }
  }

  /** The settings, with the limits of memory as they are in this process. */
  private Map<String, String> settings() {
    Map<String, String> settings = new TreeMap<>(conf.texts());
    settings.put(ClusterKeys.USER.name(), options.user());
    settings.put(NameNodeKeys.MEMORY.name(), Long.toString(options.memory()));
    settings.put(NameNodeKeys.SMALL_VALUES.name(), Long.toString(options.smallValues()));
    return settings;
  }

  private static void await(Process process, BooleanSupplier isEnded)
      throws InterruptedException, IOException {
    long looks = TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS) / LOOK_MILLIS;
    while (!process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      if (isEnded.getAsBoolean()) {
        throw new CancellationException("the namenode ends");
      }
      if (looks-- <= 0) {
        throw new IOException("its process has not ended within " + DEADLINE_SECONDS + " s");
      }
    }
  }

  /** It must write nothing any more when what is left of it is removed. */
  private static void end(Process process) throws IOException {
    process.destroyForcibly();
    try {
      process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.getOutputStream().close();
  }

  /** What a process says. */
  private static final class Output implements Runnable {
    private final Process process;
    private final Deque<String> lines = new ArrayDeque<>();
    private Snapshots.Size size;

    Output(Process process) {
      this.process = process;
    }

    @Override
    public void run() {
      try (BufferedReader in =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          add(line);
        }
      } catch (IOException e) {
        // It was ended.
      }
    }

    private synchronized void add(String line) {
      Snapshots.Size said = CheckpointMain.sizeIn(line);
      size = said == null ? size : said;
      if (lines.size() == LAST_LINES) {
        lines.removeFirst();
      }
      lines.addLast(line);
    }

    synchronized Snapshots.Size size() {
      return size;
    }

    synchronized String lastLines() {
      return String.join("\n", lines);
    }
  }
}
