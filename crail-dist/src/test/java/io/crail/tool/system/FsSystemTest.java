/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.protocol.part.NodePath;
import io.crail.tool.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what {@code crail fs} does, prints and refuses. The servers are separate processes, with
 * two namenodes. Most commands run within this process. Commands whose log or exit code matters run
 * in processes of their own.
 */
@Tag("once")
class FsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private static ProcessCluster cluster;

  @TempDir private Path local;

  @BeforeAll
  static void start() throws Exception {
    cluster = ProcessCluster.start(2, 2, Map.of("crail.user", "root-owner"));
    // What tools log by default, so that noise would be seen.
    Files.copy(Path.of("..", "conf", "log4j2.xml"), cluster.directory().resolve("log4j2.xml"));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  @Test
  void bytesComeBackAsTheyWere() throws Exception {
    byte[] bytes = new byte[3_000_001];
    new Random(7).nextBytes(bytes);
    Path file = Files.write(local.resolve("file"), bytes);
    assertEquals("", fs("-mkdir", "-p", "/bytes/below"));
    assertSilent(process("-put", file.toString(), "/bytes/below/file"));
    assertEquals("", fs("-cp", "/bytes/below/file", "/bytes/copy"));
    assertSilent(process("-get", "/bytes/copy", local.resolve("back").toString()));
    assertArrayEquals(bytes, Files.readAllBytes(local.resolve("back")));
    fs("-get", "/bytes/below", local.resolve("tree").toString());
    assertArrayEquals(bytes, Files.readAllBytes(local.resolve("tree/file")));
    fs("-moveFromLocal", file.toString(), "/bytes/moved");
    assertFalse(Files.exists(file));
    assertEquals("3000001\n", fs("-stat", "%b", "/bytes/moved"));
  }

  @Test
  void textGrowsMovesAndGoes() throws Exception {
    Path line = Files.writeString(local.resolve("line"), "first\n");
    fs("-mkdir", "-p", "/text/to");
    fs("-put", line.toString(), "/text/file");
    assertEquals("", fs("-appendToFile", line.toString(), "/text/file"));
    assertEquals("first\nfirst\n", fs("-cat", "/text/file"));
    assertEquals("first\nfirst\n", fs("-tail", "/text/file"));
    assertEquals("", fs("-mv", "/text/file", "/text/to"));
    assertEquals(0, code("-test", "-f", "/text/to/file"));
    assertEquals(1, code("-test", "-e", "/text/file"));
    fs("-getmerge", "/text/to", local.resolve("merged").toString());
    assertEquals("first\nfirst\n", Files.readString(local.resolve("merged")));
    assertEquals("Deleted /text/to\n", fs("-rm", "-r", "/text/to"));
    assertEquals("", fs("-touchz", "/text/empty"));
    assertEquals(0, code("-test", "-z", "/text/empty"));
    assertEquals("", fs("-rmdir", "--ignore-fail-on-non-empty", "/text"));
    assertEquals(0, code("-test", "-d", "/text"));
  }

  @Test
  void aNameMakesNoLineOfItsOwnAndCommandsNoTerminal() throws Exception {
    Path line = Files.writeString(local.resolve("line"), "raw\u001b[31m\n");
    String name = "/forged/a\nFound 1 items\u001bM\r\u202e";
    String shown = "/forged/a\\nFound 1 items\\u001bM\\r\\u202e";
    fs("-mkdir", "-p", name);
    fs("-put", line.toString(), name + "/b\tc");
    List<String> listing = fs("-ls", "-R", "/forged").lines().toList();
    assertEquals(2, listing.size(), listing.toString());
    assertTrue(listing.get(0).endsWith(shown), listing.get(0));
    assertTrue(listing.get(1).endsWith(shown + "/b\\tc"), listing.get(1));
    assertEquals(shown + "\n", fs("-ls", "-C", "/forged"));
    assertEquals("/forged\n" + shown + "\n", fs("-find", "/forged", "-name", "*o*"));
    // Programs read these, and need the names themselves; and contents are not names.
    assertTrue(fs("-find", "/forged", "-print0").contains(name + "\0"));
    assertEquals("raw\u001b[31m\n", fs("-cat", name + "/b\tc"));
    for (String[] action :
        new String[][] {{"-du", "/forged"}, {"-count", "/forged/*"}, {"-stat", "%n", name}}) {
      String text = fs(action);
      assertEquals(text.strip(), Printable.line(text.strip()), String.join(" ", action));
    }
    Ran cat = Ran.run(cluster.directory(), "fs", "-cat", name);
    assertEquals(1, cat.code());
    assertEquals(1, cat.stderr().lines().count(), cat.stderr());
    assertEquals(cat.stderr().strip(), Printable.line(cat.stderr().strip()));
    assertEquals("Deleted " + shown + "\n", fs("-rm", "-r", name));
  }

  @Test
  void whatIsNoNameStaysAsItIs() throws Exception {
    Path line = Files.writeString(local.resolve("line"), "x\n");
    fs("-mkdir", "/layout");
    fs("-put", line.toString(), "/layout/a\tb:c");
    assertTrue(fs("-checksum", "/layout/*").startsWith("/layout/a\\tb:c\tNONE"));
    assertEquals("2\tregular file\n", fs("-stat", "%b\t%F", "/layout/*"));
    assertEquals("a\\tb:c 2\n", fs("-stat", "%n %b", "/layout/*"));
    fs("-rm", "-r", "/layout");
  }

  @Test
  void whatCountsHasNoErasureCoding() throws Exception {
    fs("-mkdir", "/coded");
    String count = fs("-count", "-e", "/coded");
    assertEquals(1, count.lines().count(), count);
    assertTrue(count.startsWith("           1            0                  0"), count);
    assertTrue(count.endsWith("/coded\n"), count);
    fs("-rm", "-r", "/coded");
  }

  @Test
  void aPathThatCannotBeIsNotThere() throws Exception {
    String tooLong = "/" + "x".repeat(300);
    assertEquals(1, code("-test", "-e", tooLong));
    assertRefused(1, "cat: `" + tooLong + "': No such file or directory", "-cat", tooLong);
  }

  @Test
  void showsSizesAndNames() throws Exception {
    Path a = Files.write(local.resolve("a"), new byte[100_000]);
    Path b = Files.write(local.resolve("b"), new byte[50]);
    fs("-mkdir", "-p", "/told/below");
    fs("-put", a.toString(), b.toString(), "/told/below");

    List<String[]> listing = words(fs("-ls", "-R", "/told"));
    assertEquals(
        List.of("/told/below", "/told/below/a", "/told/below/b"),
        listing.stream().map(words -> words[7]).toList());
    assertTrue(listing.get(0)[0].startsWith("d"), listing.get(0)[0]);
    assertEquals("100000", listing.get(1)[4]);
    assertEquals(System.getProperty("user.name"), listing.get(1)[2]);
    assertEquals("/told/below/a\n/told/below/b\n", fs("-ls", "-C", "/told/be*"));
    assertEquals("/told/below/b\n", fs("-find", "/told", "-name", "b"));
    assertArrayEquals(
        new String[] {"2", "2", "100050", "/told"}, words(fs("-count", "/told")).get(0));
    assertArrayEquals(
        new String[] {"97.7", "K", "97.7", "K", "/told"},
        words(fs("-du", "-s", "-h", "/told")).get(0));
    assertArrayEquals(new String[] {"50", "50", "/told/below/b"}, du("/told/below", 1));
    assertEquals("b 50 regular file 1\n", fs("-stat", "%n %b %F %r", "/told/below/b"));
    String[] space = words(fs("-df", "/")).get(1);
    assertEquals(String.valueOf(2 * 64L << 20), space[1]);
    assertTrue(space[0].startsWith("crail://127.0.0.1:"), space[0]);
  }

  private String[] du(String path, int line) throws Exception {
    return words(fs("-du", path)).get(line);
  }

  /** Else to Hadoop's user, as the listing shows; the site file's is the root's owner. */
  @Test
  void newNodesBelongToTheUserOfTheCommandLine() throws Exception {
    fs("-Dcrail.user=named", "-mkdir", "/whose");
    assertEquals("named\nroot-owner\n", fs("-stat", "%u", "/whose", "/"));
  }

  /** Which namenode has a directory of the root is in its name. */
  @Test
  void copiesGoBetweenNamenodesAndRenamesDoNot() throws Exception {
    Path file = Files.writeString(local.resolve("file"), "text\n");
    String here = topOfNamenode(0);
    String there = topOfNamenode(1);
    fs("-mkdir", here, there);
    fs("-put", file.toString(), here);
    fs("-cp", here + "/file", there);
    CrailProcess refused = process("-mv", here + "/file", there + "/moved");
    assertEquals(1, refused.awaitExit(PATIENCE));
    assertEquals(1, refused.stderr().lines().count(), refused.stderr());
    assertTrue(refused.stderr().contains(here + "/file"), refused.stderr());
    assertEquals("text\ntext\n", fs("-cat", here + "/file", there + "/file"));
    assertEquals(2, fs("-rm", "-r", here, there).lines().count());
  }

  private static String topOfNamenode(int index) {
    return IntStream.range(0, 64)
        .mapToObj(i -> "/top" + i)
        .filter(path -> NodePath.namenodeOf(Utf8.of(path), 2) == index)
        .findFirst()
        .orElseThrow();
  }

  /** As in HDFS: below the user's directory, which has to be made first. */
  @Test
  void relativePathsAreBelowTheUsersDirectory() throws Exception {
    String home = "/user/" + System.getProperty("user.name");
    assertRefused(1, "ls: `.': No such file or directory", "-ls");
    fs("-mkdir", "-p", home);
    fs("-touchz", "here");
    assertEquals(home + "/here", words(fs("-ls", home)).get(1)[7]);
    assertEquals("here\n", fs("-ls", "-C"));
  }

  @Test
  void invalidArgumentsAreRefusedInOneLine() throws Exception {
    Path file = Files.writeString(local.resolve("file"), "new\n");
    fs("-mkdir", "-p", "/refused/below");
    fs("-put", file.toString(), "/refused/file");
    assertRefused(1, "cat: `/refused/no': No such file or directory", "-cat", "/refused/no");
    assertRefused(1, "rmdir: `/refused': Directory is not empty", "-rmdir", "/refused");
    assertRefused(1, "rm: `/refused': Is a directory", "-rm", "/refused");
    assertRefused(1, "put: `/refused/file': File exists", "-put", file.toString(), "/refused/file");
    assertEquals("", fs("-put", "-f", file.toString(), "/refused/file"));
    assertRefused(1, "mkdir: `/refused/file': Is not a directory", "-mkdir", "/refused/file");
    assertRefused(
        1, "get: `" + local + "/file': File exists", "-get", "/refused/file", local + "/file");
    assertRefused(
        1, "put: `" + local + "/no': No such file or directory", "-put", local + "/no", "/");
  }

  /** The shell's temporary name is at the namenode of the final one. */
  @Test
  void aFileIsPutIntoTheRootOfSeveralNamenodes() throws Exception {
    Path file = Files.writeString(local.resolve("file"), "text\n");
    for (int i = 0; i < 8; i++) {
      String name = "/put" + i;
      assertEquals("", fs("-put", file.toString(), name));
      assertEquals("", fs("-put", "-f", file.toString(), name));
      assertEquals("text\n", fs("-cat", name));
      fs("-rm", name);
    }
    assertFalse(fs("-ls", "/").contains("_COPYING_"));
  }

  @Test
  void reportsAMissingPathInOneLine() throws Exception {
    Path file = Files.writeString(local.resolve("file"), "text\n");
    fs("-mkdir", "/lacks");
    fs("-put", file.toString(), "/lacks/file");
    assertRefused(
        1,
        "truncate: `/lacks/file': Crail cannot shorten a file; write it again, or remove it",
        "-truncate",
        "1",
        "/lacks/file");
    assertRefused(
        1,
        "rm: `/': The root cannot be removed; '/*' stands for all that is in it",
        "-rm",
        "-r",
        "/");
    Ran snapshot = run("-createSnapshot", "/lacks");
    assertEquals(1, snapshot.code());
    assertTrue(
        snapshot.stderr().startsWith("createSnapshot: Crail does not offer this: "),
        snapshot.stderr());
    assertEquals(1, snapshot.stderr().lines().count(), snapshot.stderr());
  }

  @Test
  void aWrongCommandLineEndsAsInHadoop() throws Exception {
    CrailProcess unknown = cluster.run("fs", "-nonsense");
    assertEquals(255, unknown.awaitExit(PATIENCE));
    assertTrue(unknown.stderr().startsWith("-nonsense: Unknown command\n"), unknown.stderr());
    assertTrue(unknown.stderr().contains("Usage: crail fs"), unknown.stderr());
    CrailProcess nothing = cluster.run("fs");
    assertEquals(2, nothing.awaitExit(PATIENCE));
    assertTrue(nothing.stderr().contains("-ls /"), nothing.stderr());
    // An action's own -h is no --help, and has its way after the options of all commands.
    assertTrue(fs("-Dfs.crail.block.size=1m", "-df", "-h", "/").contains(" M "));
    assertTrue(fs("-help", "ls").startsWith("-ls "));
  }

  @Test
  void aNamenodeThatDoesNotAnswerIsNamedInTime() throws Exception {
    String address = "127.0.0.1:" + cluster.namenodeAddress(0).getPort();
    CrailProcess refused =
        cluster.run("fs", "-Dcrail.namenode.address=crail://127.0.0.1:1", "-ls", "/");
    assertEquals(1, refused.awaitExit(PATIENCE));
    assertEquals(1, refused.stderr().lines().count(), refused.stderr());
    assertTrue(refused.stderr().contains("127.0.0.1:1: connection refused"), refused.stderr());
    cluster.namenode(0).signal("STOP");
    try {
      CrailProcess silent = cluster.run("fs", "--set", "crail.rpctimeout=1s", "-ls", "/");
      assertEquals(1, silent.awaitExit(PATIENCE));
      assertTrue(silent.stderr().contains(address), silent.stderr());
      assertEquals(1, silent.stderr().lines().count(), silent.stderr());
    } finally {
      cluster.namenode(0).signal("CONT");
    }
  }

  private static void assertRefused(int code, String complaint, String... arguments) {
    Ran ran = run(arguments);
    assertEquals(code, ran.code(), ran::stderr);
    assertEquals(complaint + "\n", ran.stderr());
    assertEquals("", ran.stdout());
  }

  /** Runs an action that succeeds and says nothing on stderr; what it wrote. */
  private static String fs(String... arguments) {
    Ran ran = run(arguments);
    assertEquals(0, ran.code(), ran::stderr);
    assertEquals("", ran.stderr());
    return ran.stdout();
  }

  /** Runs an action that says nothing; its exit code. */
  private static int code(String... arguments) {
    Ran ran = run(arguments);
    assertEquals("", ran.stdout() + ran.stderr());
    return ran.code();
  }

  private static Ran run(String... arguments) {
    return Ran.run(cluster.directory(), line(arguments));
  }

  @Test
  void anAddressWithoutAPortIsRefusedInOneLine() throws Exception {
    CrailProcess refused = process("-ls", "crail://localhost/");
    assertEquals(1, refused.awaitExit(PATIENCE), refused::stderr);
    assertEquals(1, refused.stderr().lines().count(), refused.stderr());
    assertTrue(refused.stderr().contains("localhost"), refused.stderr());
  }

  private static void assertSilent(CrailProcess process) throws Exception {
    assertEquals(0, process.awaitExit(PATIENCE), process::stderr);
    assertEquals("", process.stdout() + process.stderr());
  }

  /** Starts an action in a process of its own. */
  private static CrailProcess process(String... arguments) throws Exception {
    return cluster.crail(line(arguments));
  }

  private static String[] line(String... arguments) {
    List<String> line = new ArrayList<>(List.of("fs"));
    line.addAll(Arrays.asList(arguments));
    return line.toArray(new String[0]);
  }

  private static List<String[]> words(String text) {
    return text.lines().map(line -> line.trim().split("\\s+")).toList();
  }
}
