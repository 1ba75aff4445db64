/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.bench.report.JsonInput;
import io.crail.compound.CompoundOperation;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code crail scale --once} with a store that is nearly full. */
@Tag("once")
@Timeout(120)
class ScaleCommandTest {
  @TempDir private Path directory;

  private Ran run(String line, String... more) {
    List<String> words = new ArrayList<>(List.of(line.split(" ")));
    words.addAll(List.of(more));
    return Ran.run(directory, words.toArray(String[]::new));
  }

  private static void fill(CrailStore store) throws Exception {
    var file =
        store
            .create(
                "/f",
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asFile();
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(15 << 20)) {
      out.write(new byte[15 << 20]);
    }
  }

  @Test
  void whatCannotWorkIsRefused() throws Exception {
    Files.writeString(
        directory.resolve("crail-site.conf"), "crail.namenode.address crail://127.0.0.1:1\n");
    String line = "scale --most 8 -s false -e false ";
    for (String[] each :
        new String[][] {
          {"--high 100", "--high must be below 100 %"},
          {"--lease 38s", "must be at least 39s, three times --period and crail.rpctimeout"},
          {"--hook-deadline 0", "option -k has the bad value '0': must be at least 1s"},
          {"--register-deadline 999ms", "must be at least 1s"},
          {"--drain-patience 10ms", "must be at least 1s"},
          {"--class 8", "8"},
        }) {
      Ran ran = run(line + each[0]);
      assertEquals(2, ran.code(), ran::toString);
      assertTrue(ran.stderr().contains(each[1]), ran::toString);
    }
  }

  @Test
  void oneIsDrainedAndEnded() throws Exception {
    try (EmbeddedCrail cluster =
        EmbeddedCrail.builder()
            .datanodes(2)
            .storage(16 << 20)
            .set("crail.storage.keepalive", "200ms")
            .start()) {
      int port = cluster.namenodeAddresses().get(0).getPort();
      Files.writeString(
          directory.resolve("crail-site.conf"),
          "crail.namenode.address crail://127.0.0.1:" + port + "\ncrail.storage.keepalive 200ms\n");
      String line = "scale --most 8 --once --down-window 0 -p 100ms -s false";
      String[] hooks = {
        "-C", "echo ${CRAIL_SCALE_ADDRESSES#* }", "-e", "echo ended $CRAIL_SCALE_ADDRESS"
      };
      Ran ran = run(line, hooks);
      while (ran.stdout().contains("one has just started")) {
        ran = run(line, hooks);
      }
      assertEquals(0, ran.code(), ran::toString);
      assertTrue(ran.stdout().contains("; chosen: "), ran::toString);
      assertTrue(ran.stdout().contains(" is drained"), ran::toString);
      assertTrue(ran.stderr().contains("stop-hook: ended "), ran::toString);
      assertTrue(ran.stdout().contains(" has ended"), ran::toString);
    }
  }

  @Test
  void oneStepIsDoneOrOnlyShown() throws Exception {
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().storage(16 << 20).start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      int port = cluster.namenodeAddresses().get(0).getPort();
      Files.writeString(
          directory.resolve("crail-site.conf"),
          "crail.namenode.address crail://127.0.0.1:" + port + "\n");
      fill(store);
      Ran shown = run("scale --most 8 --dry-run --once");
      assertEquals(0, shown.code(), shown::toString);
      assertTrue(shown.stdout().contains(" add 1: above 80 %; 94 % in use, 15 MiB of 16 MiB at 1"));
      Ran json = run("scale --most 8 --dry-run --once --json");
      var event = JsonInput.parse(json.stdout());
      assertTrue(event.toString().contains("event=add"), json::toString);
      assertTrue(event.toString().contains("datanodes=1.0"), event::toString);
      assertTrue(run("scale --most 1 -n -o").stdout().contains("there are --most already"));

      Ran failed =
          run("scale --most 8 --once -e true -s", "echo no host for $CRAIL_SCALE_NAMES; exit 3");
      assertEquals(1, failed.code(), failed::toString);
      assertTrue(failed.stdout().contains("start-failed: scale-0-1: the hook has ended with 3"));
      assertTrue(failed.stderr().contains("start-hook: no host for scale-0-1"), failed::toString);

      // Numbers go on, over controllers.
      Ran late = run("scale --most 8 --once -e true -s true -R 1s -p 200ms");
      assertEquals(1, late.code(), late::toString);
      assertTrue(late.stdout().contains("start-failed: scale-0-2: not registered within 1 s"));
      assertTrue(late.stdout().contains("ended: has given the lease back"), late::toString);

      store
          .operate(
              "/.crail-scale/class-0",
              CompoundOperation.builder().call("lock.acquire", "somebody 60000".getBytes()).build())
          .get()
          .orThrow();
      Ran second = run("scale --most 8 --once -s false -e false");
      assertEquals(1, second.code(), second::toString);
      assertTrue(second.stdout().contains("standby: another controller has the lease"));
      assertTrue(run("scale --most 8 -c 1 -o -n").stdout().contains("at 0 datanodes"));
    }
  }
}
