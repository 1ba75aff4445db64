/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.compound.CompoundOperation;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.memory.OffHeapBuffer;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what the commands on paths print, do and refuse, on a cluster in this process. */
@Tag("once")
class PathCommandsTest {
  @TempDir private static Path directory;

  private static EmbeddedCrail cluster;

  @TempDir private Path local;

  @BeforeAll
  static void start() throws Exception {
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://127.0.0.1:"
            + cluster.namenodeAddresses().get(0).getPort()
            + ",crail://127.0.0.1:"
            + cluster.namenodeAddresses().get(1).getPort()
            + "\n");
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static Ran ran(String... arguments) {
    return Ran.run(directory, arguments);
  }

  /** Runs a command that succeeds and says nothing on stderr; what it wrote. */
  private static String done(String... arguments) {
    Ran ran = ran(arguments);
    assertEquals(0, ran.code(), ran::toString);
    assertEquals("", ran.stderr());
    return ran.stdout();
  }

  private static void refused(String complaint, String... arguments) {
    Ran ran = ran(arguments);
    assertEquals(1, ran.code(), ran::toString);
    assertEquals("crail " + arguments[0] + ": " + complaint + "\n", ran.stderr());
  }

  private static void misused(String complaint, String... arguments) {
    Ran ran = ran(arguments);
    assertEquals(2, ran.code(), ran::toString);
    assertTrue(ran.stderr().contains(complaint), ran.stderr());
  }

  private Path file(String name, String text) throws Exception {
    return Files.writeString(local.resolve(name), text);
  }

  private static void await(BooleanSupplier condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < end, "not within 20 s");
      Thread.sleep(20);
    }
  }

  private static List<String> words(String text) {
    return text.lines().map(line -> line.strip().replaceAll(" +", " ")).sorted().toList();
  }

  @Test
  void bytesComeBackAsTheyWere() throws Exception {
    byte[] bytes = new byte[20_000_001];
    new Random(7).nextBytes(bytes);
    Path file = Files.write(local.resolve("file"), bytes);
    assertEquals("", done("mkdir", "/bytes"));
    assertEquals("", done("put", file.toString(), "/bytes"));
    assertEquals("", done("get", "/bytes/file", local.resolve("back").toString()));
    assertArrayEquals(bytes, Files.readAllBytes(local.resolve("back")));
    assertEquals("", done("get", "-f", "/bytes/file", local.resolve("back").toString()));
    done("put", "-f", "-c", "0", "-L", "127.0.0.1", file.toString(), "/bytes/file");
    assertEquals("20000001  /bytes/file\n", done("du", "-b", "/bytes/file").strip() + "\n");
    assertEquals(List.of("/bytes/file"), done("ls", "/bytes").lines().toList());
  }

  @Test
  void spreadDirectoriesTakeCopiesOfAnyName() throws Exception {
    done("mkdir", "--spread", "/spread");
    for (int i = 0; i < 8; i++) {
      Path file = file("spread" + i, "bytes " + i);
      done("put", file.toString(), "/spread/f" + i);
      assertEquals("bytes " + i, done("cat", "/spread/f" + i));
    }
    assertTrue(done("stat", "/spread").contains("each namenode has a share"));
    assertTrue(done("ls", "-l", "/").contains("spread"));
    done("rm", "-r", "/spread");
  }

  @Test
  void nodesEndWhenTheirTimeIsOver() throws Exception {
    done("mkdir", "/ending", "/staying");
    done("mkdir", "--spread", "/short");
    done("put", file("ending", "text").toString(), "/ending/file");
    assertEquals("/ending  never ends", done("expire", "/ending").strip());
    done("expire", "--children", "--idle", "60m", "/staying");
    done("put", file("staying", "text").toString(), "/staying/file");
    assertEquals("/staying/file  ends in 3600 s", done("expire", "/staying/file").strip());
    assertTrue(done("stat", "/staying/file").contains("ends in 3600 s"));
    assertTrue(
        done("stat", "/staying").contains("each new one ends in 3600 s after the last access"));
    done("expire", "--never", "/staying/file");
    assertEquals("/staying/file  never ends", done("expire", "/staying/file").strip());
    done("expire", "--children", "--after", "500ms", "/short");
    for (int i = 0; i < 8; i++) {
      done("put", file("short" + i, "text").toString(), "/short/f" + i);
    }
    done("expire", "--after", "500ms", "/ending");
    // Not with what is in them: a directory may end between its name and its contents.
    await(() -> !done("ls", "/").contains("/ending"));
    await(() -> done("ls", "/short").isEmpty());
    misused("exclude each other", "expire", "--never", "--idle", "1s", "/staying");
    misused("--children needs", "expire", "--children", "/staying");
    misused("has the bad value 'soon'", "expire", "--after", "soon", "/staying");
    assertTrue(ran("expire", "--after", "1s", "/nowhere").stderr().contains("/nowhere"));
    done("rm", "-r", "/staying", "/short");
  }

  @Test
  void aTopLevelFileGetsItsNameAtEachNamenode() throws Exception {
    Path file = file("file", "text\n");
    for (int i = 0; i < 8; i++) {
      done("put", file.toString(), "/top" + i);
      assertEquals("text\n", done("cat", "/top" + i));
    }
    done("rm", "/top0", "/top1", "/top2", "/top3", "/top4", "/top5", "/top6", "/top7");
    assertTrue(done("ls").lines().noneMatch(path -> path.startsWith("/top")));
  }

  @Test
  void noSourceReplacesAnotherOfItsName() throws Exception {
    done("mkdir", "-p", "/twice/a", "/twice/b", "/twice/to");
    done("put", file("x", "one").toString(), "/twice/a/x");
    done("put", file("x", "two").toString(), "/twice/b/x");
    String just = ", which this command has just made";
    refused(
        "/twice/b/x: would replace /twice/to/x" + just,
        "mv",
        "-f",
        "/twice/a/x",
        "/twice/b/x",
        "/twice/to");
    assertEquals("one", done("cat", "/twice/to/x"));
    Path to = Files.createDirectory(local.resolve("to"));
    refused(
        "/twice/b/x: would replace " + to.resolve("x") + just,
        "get",
        "-f",
        "/twice/to/x",
        "/twice/b/x",
        to.toString());
    assertEquals("one", Files.readString(to.resolve("x")));
  }

  @Test
  void getReplacesFilesAlone() throws Exception {
    done("mkdir", "/alone");
    done("put", file("f", "new").toString(), "/alone/f");
    Path old = file("old", "old");
    Path link = Files.createSymbolicLink(local.resolve("link"), old);
    Path loose = Files.createSymbolicLink(local.resolve("loose"), local.resolve("nowhere"));
    for (Path target : List.of(link, loose)) {
      refused(
          "/alone/f: " + target + ": exists already", "get", "-f", "/alone/f", target.toString());
      assertTrue(Files.isSymbolicLink(target));
    }
    assertEquals("old", Files.readString(old));
    done("get", "-f", "/alone/f", old.toString());
    assertEquals("new", Files.readString(old));
  }

  @Test
  void everyTypeIsMadeAndShown() throws Exception {
    Path file = file("a", "one\n");
    done("mkdir", "-p", "/types/directory/below", "/types/directory");
    done("mkdir", "-p", "-t", "table", "/types/table");
    done("mkdir", "-t", "bag", "/types/bag");
    done("put", file.toString(), "/types/table/key");
    done("put", file.toString(), file("b", "two\n").toString(), "/types/bag");
    done("put", file.toString(), "/types/file");
    List<String> listing =
        words(done("ls", "-lRb", "/types")).stream()
            .map(line -> line.replaceAll(" \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d ", " "))
            .toList();
    assertEquals(
        List.of(
            "directory - /types/directory",
            "directory - /types/directory/below",
            "file 4 /types/bag/a",
            "file 4 /types/bag/b",
            "file 4 /types/file",
            "key-value 4 /types/table/key",
            "multifile - /types/bag",
            "table - /types/table"),
        listing);
    assertEquals(
        List.of("/types/bag", "/types/directory", "/types/file", "/types/table"),
        words(done("ls", "/types")));
    assertEquals("/types/bag\n", done("ls", "-d", "/types/bag"));
    assertEquals(
        List.of("0 B /types/directory", "4 B /types/file", "4 B /types/table", "8 B /types/bag"),
        words(done("du", "/types")));
    assertEquals("16 B /types", words(done("du", "-sh", "/types")).get(0));
    assertEquals("one\none\n", done("cat", "/types/table/key", "/types/file"));
    assertEquals(8, done("cat", "/types/bag").length());
    assertEquals("one\n", done("get", "/types/table/key", "-"));
  }

  @Test
  void aWholeTreeGoesThereAndBack() throws Exception {
    Path tree = Files.createDirectories(local.resolve("tree/below/empty")).resolve("../..");
    Files.writeString(tree.resolve("a"), "a\n");
    Files.writeString(tree.resolve("below/b b"), "b\n");
    Files.createSymbolicLink(tree.resolve("below/loop"), tree.toAbsolutePath());
    Ran put = ran("put", "-r", local.resolve("tree").toString(), "/copied");
    assertEquals(1, put.code());
    assertTrue(put.stderr().contains("loop: is a link to a directory"), put.stderr());
    assertEquals(
        List.of("/copied/a", "/copied/below", "/copied/below/b b", "/copied/below/empty"),
        words(done("ls", "-R", "/copied")));
    done("get", "-r", "/copied", local.resolve("back").toString());
    assertEquals("b\n", Files.readString(local.resolve("back/below/b b")));
    try (Stream<Path> all = Files.walk(local.resolve("back"))) {
      assertEquals(5, all.count(), "with itself, and nothing temporary");
    }
    refused("/copied: is a directory; -r copies all of it", "get", "/copied", local.toString());
  }

  @Test
  void statShowsWhatListsOfStepsHaveGiven() throws Exception {
    done("mkdir", "-t", "table", "/lists");
    CompoundOperation list =
        CompoundOperation.builder()
            .create()
            .setAttribute("run", "seven".getBytes(StandardCharsets.UTF_8))
            .setAttribute("bytes", new byte[] {0})
            .raiseEpoch(4)
            .build();
    try (CrailStore store =
        CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      store.operate("/lists/key", list).get().orThrow();
    }
    String shown = done("stat", "/lists/key").replaceAll(" +", " ");
    assertTrue(shown.contains(" version 1\n epoch 4\n attribute bytes = <1 bytes>\n"), shown);
    assertTrue(shown.contains(" attribute run = seven\n"), shown);
  }

  @Test
  void quotasAreSetAndShown() throws Exception {
    done("mkdir", "/limited");
    assertEquals("/limited\n  no quota\n", done("quota", "/limited"));
    assertEquals("", done("quota", "--bytes", "1m", "/limited"));
    done("quota", "-n", "4", "/limited");
    done("mkdir", "/limited/below");
    Path file = Files.write(local.resolve("file"), new byte[512 << 10]);
    done("put", file.toString(), "/limited/below/one");
    assertEquals(
        List.of("/limited", "bytes 512 KiB of 1 MiB (50 %)", "names 2 of 4 (50 %)"),
        words(done("quota", "/limited")));
    assertTrue(
        done("stat", "/limited/below")
            .contains(" 512 KiB of 1 MiB (50 %), names 2 of 4 (50 %), of /limited\n"));
    assertTrue(done("quota", "limited/below").contains("quota of     /limited\n"));
    Path large = Files.write(local.resolve("large"), new byte[2 << 20]);
    Ran refused = ran("put", large.toString(), "/limited/large");
    assertEquals(1, refused.code());
    assertTrue(refused.stderr().contains("quota exceeded: "), refused::toString);
    assertTrue(refused.stderr().contains(" /limited "), refused::toString);
    assertEquals("", done("quota", "-b", "none", "/limited"));
    done("put", large.toString(), "/limited/large");
    assertEquals(
        "{ \"path\": \"/limited\", \"directory\": \"/limited\", \"bytes\": 2621440,"
            + " \"bytesLimit\": null, \"names\": 3, \"namesLimit\": 4 }\n",
        done("quota", "--json", "/limited"));
    refused(
        "/limited/below: container is not empty: /limited/below, step 1 (limit): its first limits"
            + " are set while it is empty",
        "quota",
        "-n",
        "1",
        "/limited/below");
    done("mkdir", "--spread", "/limitedtoo");
    done("quota", "-b", "10m", "-n", "40", "/limitedtoo");
    for (int i = 0; i < 4; i++) {
      done("put", file.toString(), "/limitedtoo/" + i);
    }
    List<String> used =
        List.of("/limitedtoo", "bytes 2 MiB of 10 MiB (20 %)", "names 4 of 40 (10 %)");
    await(() -> words(ran("quota", "/limitedtoo").stdout()).equals(used));
    assertEquals("2097152 /limitedtoo", words(done("du", "-sb", "/limitedtoo")).get(0));
    done("quota", "-n", "3", "/limitedtoo");
    Ran more = ran("put", file.toString(), "/limitedtoo/more");
    assertTrue(more.stderr().contains("part of the quota of /limitedtoo "), more::toString);
    done("rm", "-r", "/limitedtoo");
    assertEquals(2, ran("quota", "-n", "-1", "/limited").code());
    assertEquals(2, ran("quota", "--bytes", "much", "/limited").code());
    done("rm", "-r", "/limited");
  }

  @Test
  void statShowsWhatIsKnown() throws Exception {
    Path file = Files.write(local.resolve("file"), new byte[3 << 19]);
    done("put", file.toString(), "/stated");
    List<String> lines = done("stat", "/stated").lines().toList();
    assertEquals("/stated", lines.get(0));
    String rest = String.join("\n", lines).replaceAll(" +", " ");
    assertTrue(rest.contains(" type file\n size 1.5 MiB (1572864 B)\n owner "), rest);
    assertTrue(rest.contains("\n permissions rw-r--r-- (0644)\n changed 2"), rest);
    assertTrue(rest.matches("(?s).*\n place 127.0.0.1:\\d+, class 0, 1.5 MiB"), rest);
    String root = done("stat", "/").replaceAll(" +", " ");
    assertTrue(root.startsWith("/\n type directory\n children "), root);
  }

  @Test
  void nodesMove() throws Exception {
    Path file = file("file", "text\n");
    done("mkdir", "-p", "/moves/to");
    done("put", file.toString(), "/moves/a");
    done("put", file.toString(), "/moves/b");
    done("mv", "/moves/a", "/moves/c");
    refused("/moves/b: /moves/c exists already; -f replaces a file", "mv", "/moves/b", "/moves/c");
    done("mv", "-f", "/moves/b", "/moves/c");
    done("mv", "/moves/c", "/moves/to");
    assertEquals(List.of("/moves/to", "/moves/to/c"), words(done("ls", "-R", "/moves")));
    refused(
        "/moves/to: there is no /moves/x; make it: crail mkdir -p /moves/x",
        "mv",
        "/moves/to",
        "/moves/x/y");
    refused("/moves/no: there is no such node", "mv", "/moves/no", "/moves/to/no");
  }

  @Test
  void oneFailureDoesNotKeepTheOthers() throws Exception {
    Path file = file("file", "text\n");
    done("mkdir", "-p", "/some/full");
    for (String name : List.of("a", "b")) {
      done("put", file.toString(), "/some/" + name);
    }
    Ran removed = ran("rm", "/some/a", "/some/no", "/some/full", "/some/b");
    assertEquals(1, removed.code());
    assertEquals(
        """
        crail rm: /some/no: there is no such node
        crail rm: /some/full: is a directory; -r removes it with all that is in it
        """,
        removed.stderr());
    assertEquals("/some/full\n", done("ls", "/some"));
    done("rm", "-f", "/some/no");
    Ran cat = ran("cat", "/some/no", "/some");
    assertEquals(2, cat.stderr().lines().count(), cat.stderr());
    assertTrue(cat.stderr().contains("/some: is a directory; 'crail ls'"), cat.stderr());
    done("rm", "-r", "/some");
  }

  @ParameterizedTest
  @CsvSource({"/", "//", "/ /none"})
  void theRootIsNotRemoved(String paths) {
    List<String> line =
        Stream.concat(Stream.of("rm", "-r"), Arrays.stream(paths.split(" "))).toList();
    Ran ran = ran(line.toArray(String[]::new));
    assertEquals(1, ran.code());
    assertTrue(
        ran.stderr().contains(": the root cannot be removed; name what is in it"), ran.stderr());
    done("ls", "/");
  }

  @Test
  void impossibleRequestsAreRefusedWithACure() throws Exception {
    Path file = file("file", "text\n");
    String name = file.toString();
    done("mkdir", "/refused");
    done("put", name, "/refused/file");
    refused("/refused/no: there is no such node", "ls", "/refused/no");
    refused("/refused/no: there is no such node", "stat", "/refused/no");
    refused(name + ": /refused/file exists already; -f replaces it", "put", name, "/refused");
    refused(
        name + ": there is no /refused/no; make it: crail mkdir -p /refused/no",
        "put",
        name,
        "/refused/no/file");
    refused(
        name + ": /refused/file is a file, and nothing can be put into it",
        "put",
        name,
        "/refused/file/x");
    refused(
        local + "/no: there is no such file or directory on this host",
        "put",
        local + "/no",
        "/refused");
    refused(local + ": is a directory; -r copies all of it", "put", local.toString(), "/refused");
    refused(
        "/refused/file: " + name + ": exists already; -f replaces it",
        "get",
        "/refused/file",
        name);
    refused(
        "/refused/file: there is no directory " + local + "/x on this host; make it first",
        "get",
        "/refused/file",
        local + "/x/y");
    refused("/refused: exists already", "mkdir", "/refused");
    refused(
        "/refused/x/y: its parent does not exist; make it: crail mkdir -p /refused/x",
        "mkdir",
        "/refused/x/y");
    refused(
        "/refused/file: /refused/file exists already, as a file", "mkdir", "-p", "/refused/file");
    refused(
        "/refused/file/x: /refused/file exists already, as a file",
        "mkdir",
        "-p",
        "/refused/file/x");
    refused(
        "/refused/..: invalid path: path has a component '.' or '..': /refused/..",
        "ls",
        "/refused/..");
    assertEquals("/refused/file\n", done("ls", "/refused"), "and nothing temporary is left");
    try (Stream<Path> left = Files.list(local)) {
      assertEquals(List.of(file), left.toList());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "rm | a path is missing",
        "put a | more is needed: the path in the store",
        "put a - | a path of the store",
        "get /a | a file or directory of this host",
        "mv /a | the path to move to",
        "mkdir -t heap /a | must be one of directory, multifile, bag, table",
        "mkdir -c 256 /a | between 0 and 255",
        "ls --lnog | did you mean '--long'?",
        "du --summary | no option '--summary'"
      })
  void aWrongCommandLineIsRefused(String line, String named) {
    Ran ran = ran(line.split(" "));
    assertEquals(2, ran.code(), ran::toString);
    assertTrue(ran.stderr().lines().findFirst().orElse("").contains(named), ran.stderr());
    assertTrue(ran("rm", "").stderr().contains("an argument is empty"), "an unset variable");
  }

  @Test
  void namesMakeNoLinesOfTheirOwn() throws Exception {
    Path file = file("file", "raw\u001b[31m\n");
    String name = "/forged\nfile\u001bM";
    String shown = "/forged\\nfile\\u001bM";
    done("put", file.toString(), name);
    assertTrue(done("ls", "-l").contains(shown + "\n"));
    assertTrue(done("stat", name).startsWith(shown + "\n"));
    assertTrue(done("du").contains(shown + "\n"));
    assertEquals("raw\u001b[31m\n", done("cat", name), "contents are not names");
    Ran refused = ran("mkdir", name);
    assertEquals("crail mkdir: " + shown + ": exists already\n", refused.stderr());
    done("rm", name);
  }

  @Test
  void aNameThatIsNoTextKeepsNoOtherBack() throws Exception {
    Path tree = Files.createDirectory(local.resolve("tree"));
    Files.writeString(tree.resolve("good"), "text\n");
    String bytes = "printf x >\"$1\"/$'\\xff\\xfe'";
    Process made = new ProcessBuilder("bash", "-c", bytes, "bash", tree.toString()).start();
    assertEquals(0, made.waitFor());
    Ran put = ran("put", "-r", tree.toString(), "/names");
    assertEquals(1, put.code());
    assertEquals(1, put.stderr().lines().count(), put.stderr());
    assertTrue(put.stderr().contains("was left out; rename it"), put.stderr());
    assertEquals("/names/good\n", done("ls", "/names"));
    done("rm", "-r", "/names");
  }

  @Test
  void programsReadALineForEachNode() throws Exception {
    Path file = file("file", "12345");
    done("mkdir", "/json");
    done("put", file.toString(), "/json/a\n\"\u00fc");
    assertEquals(
        "{ \"path\": \"/json/a\\u000a\\\"\u00fc\", \"bytes\": 5 }\n", done("du", "-j", "/json"));
    assertEquals("{ \"path\": \"/json\", \"bytes\": 5 }\n", done("du", "--json", "-s", "/json"));
    String line = done("ls", "--json", "/json");
    assertTrue(
        line.matches(
            "\\{ \"path\": \"/json/a.u000a..\u00fc\", \"type\": \"file\", \"bytes\": 5, \"modified\":"
                + " \"20[^\"]*Z\", \"spread\": false \\}\n"),
        line);
    assertTrue(done("ls", "-jd", "/json").contains("\"type\": \"directory\", \"bytes\": null"));
    String dump = done("dump", "--json");
    assertTrue(dump.lines().allMatch(each -> each.matches("\\{ \"namenode\": .* \\}")), dump);
    assertTrue(dump.contains("/json"), dump);
    done("rm", "-r", "/json");
  }

  @Test
  void aPathMayBeAsLongAsTheLimitAllows() throws Exception {
    Path file = file("file", "text\n");
    String above = ("/" + "d".repeat(199)).repeat(5) + "/dd";
    done("mkdir", "-p", above + "/" + "e".repeat(6));
    String path = above + "/" + "f".repeat(20);
    assertEquals(1024, path.length());
    done("put", file.toString(), path);
    assertEquals("text\n", done("cat", path));
    refused(
        file + ": " + above + "/eeeeee is too long by 4 bytes for the temporary name of a copy",
        "put",
        file.toString(),
        above + "/eeeeee/f");
    done("rm", "-r", above);
  }

  /**
   * Another client removes each file just when the command has seen it. On a busy machine the
   * command may win all races of a round.
   */
  @Test
  void itDoesNotMatterWhoHasRemovedAFileIfForced() throws Exception {
    try (CrailStore store =
        CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      int rounds = 20;
      while (contestedRemovals(store, 300) == 0) {
        assertTrue(--rounds > 0, "the other one has removed none");
      }
    }
  }

  /**
   * Lets the command and another client remove the same files; returns how many the other one
   * removed.
   */
  private static int contestedRemovals(CrailStore store, int count) throws Exception {
    done("mkdir", "/contested");
    List<String> line = new ArrayList<>(List.of("rm", "-f"));
    for (int i = 0; i < count; i++) {
      String path = "/contested/" + i;
      store
          .create(
              path,
              CrailNodeType.DATAFILE,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
      line.add(path);
    }
    AtomicInteger won = new AtomicInteger();
    Thread other =
        new Thread(
            () -> {
              for (int i = 1; i < count && !Thread.currentThread().isInterrupted(); i++) {
                won.addAndGet(removed(store, i) ? 1 : 0);
              }
            });
    other.start();
    try {
      assertEquals("", done(line.toArray(String[]::new)));
    } finally {
      other.interrupt();
      other.join();
    }
    assertEquals("", done("ls", "/contested"));
    done("rm", "-r", "/contested");
    return won.get();
  }

  /** Removes a file as soon as the one before it is gone; true if no one else did. */
  private static boolean removed(CrailStore store, int index) {
    try {
      while (store.lookup("/contested/" + (index - 1)).get() != null) {
        Thread.onSpinWait();
      }
      store.delete("/contested/" + index, false).get();
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  @Test
  void manyEntriesAreListed() throws Exception {
    try (CrailStore store =
        CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      done("mkdir", "-t", "table", "/many");
      CrailBuffer value =
          OffHeapBuffer.wrap(
              ByteBuffer.allocateDirect(3).put("abc".getBytes(StandardCharsets.UTF_8)));
      for (int i = 0; i < 3000; i++) {
        store.put("/many/" + i, value.clear()).get();
      }
    }
    assertEquals(
        3000, done("ls", "-l", "/many").lines().filter(l -> l.startsWith("key-value")).count());
    assertEquals("9000 /many", words(done("du", "-sb", "/many")).get(0));
    done("rm", "-r", "/many");
  }

  @Test
  void aLongCopyShowsHowFarItIsOnATerminal() throws Exception {
    Path file = local.resolve("large");
    try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
      large.setLength(65 << 20);
    }
    System.setProperty("crail.terminal", "true");
    try {
      Ran put = ran("put", file.toString(), "/large");
      assertEquals(0, put.code(), put::toString);
      assertTrue(put.stderr().contains("/large") && put.stderr().contains("65 MiB"), put.stderr());
      assertEquals("", done("get", "-q", "/large", local.resolve("back").toString()));
    } finally {
      System.clearProperty("crail.terminal");
    }
    done("rm", "/large");
  }

  @Test
  void directoriesHaveAColourOnATerminalOnly() {
    done("mkdir", "/coloured");
    System.setProperty("crail.terminal.out", "true");
    try {
      assertTrue(done("ls").contains("\u001b[1;34m/coloured\u001b[0m\n"));
    } finally {
      System.clearProperty("crail.terminal.out");
    }
    assertTrue(done("ls").contains("/coloured\n"));
    done("rm", "-r", "/coloured");
  }
}
