/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.common.Addresses;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * Two namenodes and two datanodes over TCP for all suites of this JVM, which ends them. With {@code
 * -Dcrail.home=} they are processes of that layout; without it they run in this JVM.
 */
public final class SharedCluster {
  private static final long PATIENCE_SECONDS = Integer.getInteger("crail.test.patience", 90);
  private static final int NAMENODES = 2;
  private static final int DATANODES = 2;
  private static final long DATANODE_BYTES = 64L << 20;

  /** No deadline ends because the machine pauses for seconds. */
  private static final String SETTINGS = "crail.rpctimeout 60s\ncrail.datatimeout 60s\n";

  private final Path directory;
  private final Path dataPath;
  private final List<Process> processes = new ArrayList<>();
  private EmbeddedCrail embedded;
  private String authority;

  /** Started by the first suite that needs it. */
  private static final class Holder {
    static final SharedCluster CLUSTER = new SharedCluster();
  }

  private SharedCluster() {
    try {
      directory = Files.createTempDirectory("crail-hadoop-test");
      Path memory = Path.of("/dev/shm");
      boolean roomy =
          Files.isWritable(memory) && memory.toFile().getUsableSpace() > 2 * DATANODE_BYTES;
      dataPath = Files.createTempDirectory(roomy ? memory : directory, "crail-hadoop-test");
      Runtime.getRuntime().addShutdownHook(new Thread(this::end));
      String home = System.getProperty("crail.home");
      if (home == null) {
        startEmbedded();
      } else {
        startProcesses(home);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  /** The root of the file system. */
  public static URI uri() {
    return URI.create("crail://" + Holder.CLUSTER.authority + "/");
  }

  /** Sets what clients need, beside the root. */
  public static void configure(Configuration configuration) {
    configuration.set(CrailFileSystem.SITE_FILE_KEY, Holder.CLUSTER.site().toString());
  }

  private Path site() {
    return directory.resolve("crail-site.conf");
  }

  private void startEmbedded() throws IOException {
    Files.writeString(site(), SETTINGS);
    embedded =
        EmbeddedCrail.builder()
            .namenodes(NAMENODES)
            .datanodes(DATANODES)
            .storage(DATANODE_BYTES)
            .set("crail.storage.tcp.allocationsize", "16m")
            .start();
    authority =
        embedded.namenodeAddresses().stream().map(Addresses::text).collect(Collectors.joining(","));
  }

  private void startProcesses(String home) throws IOException, InterruptedException {
    String anywhere = "crail://127.0.0.1:0";
    writeSite(anywhere + ("," + anywhere).repeat(NAMENODES - 1));
    List<String> addresses = new ArrayList<>();
    for (int i = 0; i < NAMENODES; i++) {
      addresses.add(
          start(
              home,
              "namenode " + i + " of " + NAMENODES + " serves on (\\S+)",
              List.of("namenode", "-i", String.valueOf(i), "-p", "0")));
    }
    authority = String.join(",", addresses).replace("crail://", "");
    writeSite(addresses.stream().map(SharedCluster::uriOf).collect(Collectors.joining(",")));
    for (int i = 0; i < DATANODES; i++) {
      String size = String.valueOf(DATANODE_BYTES);
      start(
          home,
          "datanode \\S+ serves .+ on (\\S+), registered",
          List.of("datanode", "-t", "tcp", "--", "-p", "0", "-d", dataPath + "", "-s", size));
    }
  }

  private static String uriOf(String address) {
    return address.startsWith("crail://") ? address : "crail://" + address;
  }

  private void writeSite(String addresses) throws IOException {
    Files.writeString(
        site(),
        SETTINGS
            + ("crail.storage.tcp.allocationsize 16m\ncrail.namenode.address " + addresses + "\n")
            + settingsOfThisPass());
  }

  /** The settings that an embedded cluster has in this pass over the tests, a line each. */
  private static String settingsOfThisPass() {
    return Stream.of(System.getProperty(EmbeddedCrail.SETTINGS_PROPERTY, "").split("\\s+"))
        .filter(setting -> !setting.isEmpty())
        .map(setting -> setting.replaceFirst("=", " ") + "\n")
        .collect(Collectors.joining());
  }

  /** Starts a server, and waits for the line that says where it listens; gives the address. */
  private String start(String home, String pattern, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(home + "/bin/crail"));
    command.addAll(arguments);
    Path log = directory.resolve("server-" + processes.size() + ".log");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectInput(Path.of("/dev/null").toFile()).redirectOutput(log.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("CRAIL_CONF_DIR", directory.toString());
    builder.environment().remove("CRAIL_HOME");
    if (!Boolean.getBoolean("crail.test.long")) {
      builder
          .environment()
          .put("CRAIL_EXTRA_JAVA_OPTIONS", System.getProperty("crail.test.quickstart", ""));
    }
    Process process = builder.start();
    processes.add(process);
    Pattern line = Pattern.compile("(?m)^" + pattern + "$");
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (true) {
      Matcher matcher = line.matcher(Files.readString(log));
      if (matcher.find()) {
        return matcher.group(1);
      }
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        throw new AssertionError("no " + pattern + " in:\n" + Files.readString(log));
      }
      Thread.sleep(20);
    }
  }

  private void end() {
    if (embedded != null) {
      embedded.close();
    }
    processes.forEach(Process::destroy);
    try {
      for (Process process : processes) {
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
          process.destroyForcibly().waitFor();
        }
      }
      delete(dataPath);
      delete(directory);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError("could not clean up", e);
    }
  }

  private static void delete(Path top) throws IOException {
    try (Stream<Path> files = Files.walk(top)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (java.nio.file.NoSuchFileException e) {
      // The data are below the directory when there is no room in memory.
    }
  }
}
