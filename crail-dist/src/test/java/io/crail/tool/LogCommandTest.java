/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.tool.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code crail log}, on the logs of namenodes that have run, and of one that runs. */
@Tag("once")
@Timeout(120)
class LogCommandTest {
  private static final int PAGE = 4096;

  @TempDir private Path directory;
  private Path log;

  @BeforeEach
  void configure() throws Exception {
    Path data = directory.resolve("data");
    log = data.resolve("namenode-0");
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.durability sync\ncrail.namenode.datapath " + data + "\n");
  }

  private EmbeddedCrail start() throws Exception {
    return EmbeddedCrail.builder()
        .set("crail.namenode.durability", "sync")
        .set("crail.namenode.datapath", directory.resolve("data").toString())
        .start();
  }

  private static CrailStore connect(EmbeddedCrail cluster) throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  private static void mkdir(CrailStore store, String path) throws Exception {
    store
        .create(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get()
        .syncDir();
  }

  private void fill(int from, int to) throws Exception {
    try (EmbeddedCrail cluster = start();
        CrailStore store = connect(cluster)) {
      for (int i = from; i < to; i++) {
        mkdir(store, "/d" + i);
      }
    }
  }

  private Ran run(String line) {
    return Ran.run(directory, ("log " + line).strip().split(" "));
  }

  private Ran ok(String line) {
    Ran ran = run(line);
    assertEquals(0, ran.code(), ran::toString);
    assertEquals("", ran.stderr());
    return ran;
  }

  /** The number of the record that makes a directory. */
  private long numberOf(String name) {
    String line = ok("print --kind link --name " + name).stdout();
    assertEquals(1, line.lines().count(), line);
    return Long.parseLong(line.substring(0, line.indexOf(' ')));
  }

  private List<String> names() throws Exception {
    try (Stream<Path> files = Files.list(log)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aLogIsLookedAtCheckedAndPrinted() throws Exception {
    fill(0, 5);
    String look = ok("").stdout();
    assertTrue(look.startsWith(log + "\nnamenode 0 of 1 of cluster "), look);
    assertTrue(look.contains("\nok: a start reads the records 1 to "), look);
    assertTrue(look.contains("0000000001.log"), look);
    String check = ok("check").stdout();
    assertTrue(check.matches("(?s)ok: a start reads the records 1 to \\d+\n6 nodes, .*"), check);
    assertTrue(check.contains("1 datanode;"), check);
    String all = ok("print").stdout();
    assertTrue(all.matches("(?s)1 \\d{4}-\\d\\d-\\d\\dT\\S+Z lineage .*"), all);
    assertTrue(all.contains(" link parent="), all);
    long third = numberOf("d3");
    String one = ok("print -f " + third + " -t " + third + " --json").stdout();
    assertTrue(one.startsWith("{ \"number\": " + third + ", \"time\": \""), one);
    assertTrue(one.contains("\"name\": \"d3\""), one);
    String json = ok("look --json " + log).stdout();
    assertTrue(json.contains("\"damage\": \"\""), json);
    String id = all.lines().filter(line -> line.contains("name=\"d3\"")).findFirst().orElseThrow();
    id = id.replaceAll(".*contents=\\{id=(\\d+).*", "$1");
    assertTrue(ok("print --id " + id).stdout().contains("\"d3\""));
  }

  @Test
  void aLogInUseIsOnlyRead() throws Exception {
    try (EmbeddedCrail cluster = start();
        CrailStore store = connect(cluster)) {
      mkdir(store, "/d");
      String look = ok("look").stdout();
      assertTrue(look.contains(", in use by process " + ProcessHandle.current().pid()), look);
      assertTrue(look.contains("  ahead\n"), look);
      ok("check");
      assertTrue(ok("print -k link").stdout().contains("\"d\""));
      Ran refused = run("cut --after 1 --yes");
      assertEquals(ExitCode.FAILURE, refused.code());
      assertTrue(refused.stderr().contains("another namenode uses"), refused.stderr());
      mkdir(store, "/e");
    }
  }

  /** What is being written while it is read is never taken for damage. */
  @Test
  void aLogThatIsBeingWrittenIsWhole() throws Exception {
    try (EmbeddedCrail cluster = start();
        CrailStore store = connect(cluster)) {
      mkdir(store, "/first");
      AtomicBoolean ended = new AtomicBoolean();
      CompletableFuture<Integer> writer =
          CompletableFuture.supplyAsync(
              () -> {
                int count = 0;
                try {
                  for (; !ended.get(); count++) {
                    mkdir(store, "/d" + count);
                  }
                } catch (Exception e) {
                  throw new CompletionException(e);
                }
                return count;
              });
      try {
        for (int i = 0; i < 5; i++) {
          assertEquals(0, run("look").code());
          assertEquals(0, run("check").code());
          assertEquals(0, run("print --kind unlink").code());
        }
      } finally {
        ended.set(true);
      }
      assertTrue(writer.get(60, TimeUnit.SECONDS) > 0);
    }
    ok("check");
  }

  @Test
  void aNamenodeGoesOnFromWhereTheLogWasCut() throws Exception {
    fill(0, 10);
    long last = numberOf("d4");
    Ran asked = run("cut --after " + last);
    assertEquals(ExitCode.FAILURE, asked.code());
    assertTrue(asked.stdout().contains(" later records would be lost."), asked.stdout());
    assertTrue(asked.stderr().contains("nothing was changed; --yes cuts it"), asked.stderr());
    assertEquals(last + 1, numberOf("d4") + 1);
    String cut = ok("cut --yes --after " + last).stdout();
    assertTrue(cut.contains("The log ends with record " + last + "."), cut);
    assertTrue(names().stream().anyMatch(name -> name.matches("cut-.*Z-0000000001.log")));
    String check = ok("check").stdout();
    assertTrue(check.contains("to " + last + "\n6 nodes"), check);
    try (EmbeddedCrail cluster = start();
        CrailStore store = connect(cluster)) {
      assertNotNull(store.lookup("/d4").get());
      assertNull(store.lookup("/d5").get());
      mkdir(store, "/after");
    }
    fill(20, 22);
    assertTrue(ok("check").stdout().contains("\n9 nodes, "));
    assertTrue(ok("look").stdout().contains("no namenode reads: cut-"));
  }

  @Test
  void damageIsNamedAndCutOff() throws Exception {
    fill(0, 10);
    Path file = log.resolve("0000000001.log");
    byte[] bytes = Files.readAllBytes(file);
    // In the records of a frame that later ones say was durable.
    bytes[2 * PAGE + 60] ^= 1;
    Files.write(file, bytes);
    Ran look = run("look");
    assertEquals(ExitCode.FAILURE, look.code());
    assertTrue(look.stdout().contains("\nbroken: a start fails: 0000000001.log at byte 8192: "));
    assertTrue(look.stdout().contains("crail log cut --at-damage " + log), look.stdout());
    Ran check = run("check");
    assertEquals(ExitCode.FAILURE, check.code());
    assertTrue(check.stderr().contains("DAMAGED: 0000000001.log at byte 8192"), check.stderr());
    Ran printed = run("print");
    assertEquals(ExitCode.FAILURE, printed.code());
    assertTrue(printed.stdout().startsWith("1 "), printed.stdout());
    assertTrue(printed.stderr().contains("0000000001.log at byte 8192"), printed.stderr());
    ok("cut --at-damage --yes");
    ok("look");
    ok("check");
    fill(10, 12);
    ok("check");
  }

  @Test
  void whatIsNotThereIsSaid() throws Exception {
    assertTrue(run("look").stderr().contains("there is no directory " + directory));
    Path empty = Files.createDirectories(directory.resolve("empty"));
    String look = ok("look " + empty).stdout();
    assertTrue(look.contains("a namenode that starts here is empty"), look);
    assertTrue(run("check " + empty).stderr().contains("there is no log in "));
    Files.createDirectories(empty.resolve("namenode-0"));
    Files.createDirectories(empty.resolve("namenode-1"));
    Ran several = run("look " + empty);
    assertEquals(ExitCode.USAGE, several.code());
    assertTrue(several.stderr().contains("choose one, as " + empty.resolve("namenode-0")));
    Ran kind = run("print -k lnik " + empty);
    assertEquals(ExitCode.USAGE, kind.code());
    assertTrue(kind.stderr().contains("must be some of link,"), kind.stderr());
    assertTrue(run("lok").stderr().contains("none of look, check, print, cut"));
    assertTrue(run("cut").stderr().contains("either --after <number> or --at-damage"));
    assertTrue(run("look --after 3").stderr().contains("is for 'crail log cut'"));
  }
}
