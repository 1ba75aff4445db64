/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.PageBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Follows the page for the start on two hosts. Each of them is a process with namespaces of its
 * own: a network, a name, and file systems for memory and the installation. A cable connects them.
 * All of it is gone when the two processes end.
 */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.home", matches = ".+")
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "the long tests alone make hosts")
class TwoHostsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final String PLACE = "docs/getting-started.md#Two hosts";
  private static final List<String> HOSTS = List.of("node1", "node2");

  @TempDir private Path directory;

  private final List<CrailProcess> hosts = new ArrayList<>();

  @Test
  void thePageWorks() throws Exception {
    try (CrailProcess namespaces =
        CrailProcess.shell(directory, "unshare --net --mount --uts true")) {
      Assumptions.assumeTrue(
          namespaces.awaitExit(PATIENCE) == 0, () -> "no namespaces: " + namespaces.stderr());
    }
    try (Installation unpacked = new Installation(directory.resolve("crail"))) {
      Files.writeString(
          directory.resolve("hosts"), "127.0.0.1 localhost\n10.77.0.1 node1\n10.77.0.2 node2\n");
      for (String host : HOSTS) {
        unpacked.run("cp -a . ../" + host + "-crail");
        start(host);
      }
      connect();
      writeSsh();
      follow();
      startWithoutSsh();
    } finally {
      for (CrailProcess host : hosts) {
        host.close();
      }
    }
  }

  /** Runs a line on a host, in the directory of Crail, where it has to succeed. */
  private String on(String host, String line) throws Exception {
    try (CrailProcess process = CrailProcess.shell(directory, entered(host, line))) {
      int code = process.awaitExit(PATIENCE);
      assertEquals(0, code, () -> host + ": " + line + "\n" + process.stdout() + process.stderr());
      return process.stdout() + process.stderr();
    }
  }

  private static String entered(String host, String line) {
    return "exec ./" + host + " '" + line.replace("'", "'\\''") + "'";
  }

  private void start(String host) throws Exception {
    CrailProcess process =
        CrailProcess.shell(
            directory,
            "exec unshare --net --mount --uts --propagation private bash -c 'set -e; "
                + String.join(
                    "; ",
                    "hostname " + host,
                    "mount --bind hosts /etc/hosts",
                    "mount -t tmpfs -o size=1200m tmpfs /dev/shm",
                    "mount -t tmpfs tmpfs /opt",
                    "mkdir /opt/crail",
                    "mount --bind " + host + "-crail /opt/crail",
                    "ip link set lo up",
                    "echo ready",
                    "exec sleep 3600")
                + "'");
    hosts.add(process);
    process.await("^ready$", PATIENCE);
    script(
        host,
        "exec nsenter -t "
            + process.pid()
            + " -n -m -u env -C /opt/crail PATH="
            + directory.resolve("programs")
            + ":$PATH bash -c \"$1\"");
  }

  private void script(String name, String text) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/usr/bin/env bash\n" + text + "\n");
    assertTrue(file.toFile().setExecutable(true));
  }

  private void connect() throws Exception {
    on("node1", "ip link add v0 type veth peer name v0 netns " + hosts.get(1).pid());
    for (int i = 0; i < HOSTS.size(); i++) {
      String host = HOSTS.get(i);
      on(host, "ip addr add 10.77.0." + (i + 1) + "/24 dev v0 && ip link set v0 up");
    }
  }

  /** What ssh without a password does: it runs a line on another host. */
  private void writeSsh() throws IOException {
    script(
        "programs/ssh",
        """
        while [[ $1 == -* ]]; do
          [ "$1" != -o ] || shift
          shift
        done
        host=$1
        shift
        cd DIRECTORY && exec "./$host" "$*"
        """
            .replace("DIRECTORY", directory.toString()));
  }

  private void follow() throws Exception {
    List<String> commands = new ArrayList<>();
    for (PageBlock block : PageBlock.ofAllPages()) {
      if (!block.place().equals(PLACE)) {
        continue;
      }
      if (!block.isForUse()) {
        Files.writeString(directory.resolve("node1-crail/conf/datanodes"), block.text() + "\n");
        continue;
      }
      for (String line : block.commands()) {
        if (PageBlock.isSetting(line)) {
          for (String host : HOSTS) {
            Files.writeString(
                directory.resolve(host + "-crail/conf/crail-site.conf"),
                line + "\n",
                StandardOpenOption.APPEND);
          }
        } else {
          commands.add(line);
        }
      }
    }
    assertEquals(List.of("bin/start-crail", "bin/crail df", "bin/stop-crail"), commands);
    try {
      on("node1", commands.get(0));
      String space = on("node1", commands.get(1));
      assertTrue(space.contains("2 of 2 datanodes online"), space);
      use();
      String doctor = on("node1", "bin/crail doctor --hosts");
      assertTrue(doctor.contains("host node2"), doctor);
    } finally {
      String ended = on("node1", commands.get(2));
      assertEquals(3, ended.lines().filter(line -> line.endsWith(" has ended")).count(), ended);
    }
  }

  /** The second host is a client of the first one. */
  private void use() throws Exception {
    on("node1", "bin/crail put README.md /readme");
    String text = on("node2", "bin/crail cat /readme");
    assertEquals(Files.readString(directory.resolve("node1-crail/README.md")), text);
    String line = "bin/crail iobench -t write -s 1m -k 256 -f /first.dat";
    assertTrue(on("node2", line).contains("execution time"));
  }

  /** The sentence below the commands. */
  private void startWithoutSsh() throws Exception {
    try (CrailProcess namenode =
            CrailProcess.shell(directory, entered("node1", "exec bin/crail namenode"));
        CrailProcess first =
            CrailProcess.shell(directory, entered("node1", "exec bin/crail datanode"));
        CrailProcess second =
            CrailProcess.shell(directory, entered("node2", "exec bin/crail datanode"))) {
      namenode.await(" serves ", PATIENCE);
      first.await(", registered$", PATIENCE);
      second.await(", registered$", PATIENCE);
      use();
    }
  }
}
