/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.dist.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests command lines that need no cluster: which ones are refused, and the help of each command.
 */
@Timeout(120)
class LauncherTest {
  @TempDir private Path directory;

  @BeforeEach
  void configure() throws Exception {
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://127.0.0.1:1,127.0.0.1:2\n");
  }

  private Ran run(String line) {
    return Ran.run(directory, line.split(" "));
  }

  /** Command line, and what the first line on stderr has to name. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense | nonsense",
        "ping --nonsense | --nonsense",
        "ping surplus | surplus",
        "namenode -p 70000 | 70000",
        "namenode -p | p",
        "namenode -i 9 | 9",
        "datanode -c many | many",
        "datanode -c 999 | between 0 and 7",
        "version surplus | surplus",
        "--version surplus | surplus",
        "help ping surplus | surplus",
        "ping --conf /nonexistent | no such file: /nonexistent",
        "ping --conf / | / is a directory",
        "iobench -t getFile --conf / | / is a directory",
        "ping --set crail.storage.types=tcp,tcp | once",
        "ping --set crail.storage.types=tcp,tape | tape",
        "ping --set crail.namenode.address=a:1,b:2,A:1 | twice",
        "datanode -t flash | flash",
        "datanode -- -x 1 | -x",
        "datanode -- -s lots | lots",
        "iobench -t nonsense | nonsense",
        "iobench -t write -k none | none",
        "hdfsbench -t write | writeSequentialHeap",
        "hdfsbench -t getFile -f relative | relative",
        "hdfsbench -t getFile --set crail.rpctimout=1 | crail.rpctimeout",
        "compare --only redis | keyvalue",
        "compare --set crail.rpctimout=1 | crail.rpctimeout",
        "spark --only sort | terasort",
        "spark --ways ram | tmpfs",
        "spark --size lots | 64m",
        "spark --size 1 | 65536",
        "spark --runs 0 | 1 to 1000",
        "spark --cores none | whole number",
        "spark surplus | surplus",
        "spark --conf x | --conf",
        "spark --out /nonexistent/x | /nonexistent",
        "spark --set crail.rpctimout=1 | crail.rpctimeout",
        "ping --set crail.rpctimout=1 | crail.rpctimeout",
        "ping --set crail.rpctimeout=never | never",
        "ping --set nonsense | nonsense",
        "ping -Dcrail.namenode.rpctype=pigeon | pigeon",
        "removeDatanode -p 1 | -i",
        "applications --force | --clean",
        "applications --clean --force | --id"
      })
  void badCommandLineIsNamedInOneLine(String arguments, String named) {
    Ran refused = run(arguments);
    assertEquals(ExitCode.USAGE, refused.code(), refused.stdout() + refused.stderr());
    String complaint = refused.stderr().lines().findFirst().orElse("");
    assertTrue(complaint.contains(named), refused.stderr());
    assertFalse(refused.stderr().contains("\tat "), "no stack trace");
    assertEquals("", refused.stdout());
  }

  @Test
  void badConfigurationIsNamedWithItsLine() throws Exception {
    Path file = directory.resolve("crail-site.conf");
    Files.writeString(file, "# a comment\ncrail.rpctimeout soon\n");
    Ran refused = run("ping");
    assertEquals(ExitCode.USAGE, refused.code());
    assertEquals(
        "crail: "
            + file
            + ":2: key 'crail.rpctimeout' has the bad value 'soon': must be a time such as 250ms,"
            + " 10s or 5m"
            + System.lineSeparator(),
        refused.stderr());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "namenode",
        "datanode",
        "fs",
        "iobench",
        "hdfsbench",
        "compare",
        "spark",
        "ping",
        "df",
        "datanodes",
        "removeDatanode",
        "applications",
        "dump",
        "getconf",
        "version"
      })
  void everyCommandExplainsItself(String command) {
    Ran help = run(command + " --help");
    assertEquals(0, help.code(), help.stderr());
    assertTrue(help.stdout().contains("crail " + command), help.stdout());
    assertTrue(help.stdout().contains("--set"), help.stdout());
    assertEquals("", help.stderr());
    assertTrue(run("--help").stdout().contains("  " + command + " "));
  }
}
