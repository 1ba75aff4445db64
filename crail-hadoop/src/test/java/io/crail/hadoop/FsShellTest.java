/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hadoop's shell with Crail as the default file system. */
class FsShellTest {
  private static HadoopCluster cluster;
  private static Configuration configuration;

  @TempDir Path local;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HadoopCluster();
    configuration = new Configuration();
    configuration.set("fs.defaultFS", cluster.uri().toString());
  }

  @AfterAll
  static void stop() throws Exception {
    // The one of Hadoop's cache, which the commands have used.
    FileSystem.get(configuration).close();
    cluster.close();
  }

  @Test
  void filesComeAndGo() throws Exception {
    Path source = Files.writeString(local.resolve("source"), "first\n");
    run("-mkdir", "-p", "/come/and/go");
    run("-put", source.toString(), "/come/and/file");
    run("-appendToFile", source.toString(), "/come/and/file");
    assertEquals("first\nfirst\n", run("-cat", "/come/and/file"));
    run("-mv", "/come/and/file", "/come/and/go");
    run("-cp", "/come/and/go/file", "/come/copy");
    run("-get", "/come/copy", local.resolve("copy").toString());
    assertEquals("first\nfirst\n", Files.readString(local.resolve("copy")));
    run("-rm", "-r", "/come/and");
    assertEquals(1, code(new ByteArrayOutputStream(), "-test", "-e", "/come/and"));
    run("-test", "-f", "/come/copy");
  }

  @Test
  void listsWhatIsThere() throws Exception {
    byte[] bytes = new byte[100_000];
    Path source = Files.write(local.resolve("source"), bytes);
    run("-mkdir", "-p", "/told/below");
    run("-put", source.toString(), "/told/below/a");
    run("-put", source.toString(), "/told/b");

    String listing = run("-ls", "-R", "/told");
    assertEquals(3, listing.lines().count(), listing);
    assertTrue(listing.contains("/told/below/a"), listing);
    assertEquals("100000\n", run("-stat", "%b", "/told/b"));
    assertArrayEquals(
        new String[] {"2", "2", "200000", "/told"}, run("-count", "/told").trim().split("\\s+"));
    assertEquals("200000", run("-du", "-s", "/told").trim().split("\\s+")[0]);
    assertTrue(run("-df", "/").contains(String.valueOf(64 << 20)));
  }

  @Test
  void withOneNamenodeTheTrashIsInTheHomeDirectory() throws Exception {
    FileSystem system = FileSystem.get(configuration);
    org.apache.hadoop.fs.Path home = system.getHomeDirectory();
    org.apache.hadoop.fs.Path trash = system.getTrashRoot(new org.apache.hadoop.fs.Path("/a/b"));
    assertEquals(new org.apache.hadoop.fs.Path(home, ".Trash"), trash);
  }

  @Test
  void setReplicationFailsAtOnceForSeveralReplicas() throws Exception {
    Path source = Files.writeString(local.resolve("source"), "x");
    run("-mkdir", "/replicas");
    run("-put", source.toString(), "/replicas/file");
    run("-setrep", "-w", "1", "/replicas/file");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    assertEquals(1, code(said, "-setrep", "-w", "3", "/replicas/file"));
    assertTrue(said.toString(StandardCharsets.UTF_8).contains("/replicas/file"), said.toString());
  }

  @Test
  void aMissingFileIsNamed() {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    assertEquals(1, code(said, "-cat", "/missing"));
    assertTrue(said.toString(StandardCharsets.UTF_8).contains("/missing"), said.toString());
  }

  /** Runs a command that succeeds; what it wrote. */
  private static String run(String... command) {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    int code = code(said, command);
    assertEquals(0, code, () -> String.join(" ", command) + ": " + said);
    return said.toString(StandardCharsets.UTF_8);
  }

  /** Runs a command; its exit code. */
  private static int code(ByteArrayOutputStream said, String... command) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    try (PrintStream captured = new PrintStream(said, true, StandardCharsets.UTF_8)) {
      System.setOut(captured);
      System.setErr(captured);
      return ToolRunner.run(configuration, new FsShell(), command);
    } catch (Exception e) {
      throw new AssertionError(String.join(" ", command), e);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }
}
