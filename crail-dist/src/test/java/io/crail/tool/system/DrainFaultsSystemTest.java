/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.DrainStanding;
import io.crail.protocol.part.NodePath;
import io.crail.testkit.nemesis.BreakingRelay;
import io.crail.tool.Ran;
import io.crail.tool.drain.DrainTask;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What becomes of a drain when its datanode falls silent, when one namenode has no space, and when
 * one restarts.
 */
@Tag("once")
class DrainFaultsSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int NAMENODES = 2;
  private static final int MIB = 1 << 20;

  private static final Map<String, String> SETTINGS =
      Map.of(
          "crail.lease", "2s",
          "crail.namenode.freemargin", "200ms",
          "crail.storage.keepalive", "200ms");

  private static Ran ran(ProcessCluster cluster, String... arguments) {
    return Ran.run(cluster.directory(), arguments);
  }

  private static String address(ProcessCluster cluster, int datanode) {
    return "127.0.0.1:" + cluster.datanodeAddress(datanode).getPort();
  }

  /** Paths that belong to one namenode. */
  private static List<String> paths(int namenode, int count) {
    List<String> paths = new ArrayList<>();
    for (int i = 0; paths.size() < count; i++) {
      String path = "/f" + i;
      if (NodePath.namenodeOf(Utf8.of(path), NAMENODES) == namenode) {
        paths.add(path);
      }
    }
    return paths;
  }

  private static byte[] bytes(String path, int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) path.hashCode());
    return bytes;
  }

  private static CrailBufferedOutputStream begin(CrailStore store, String path, int length)
      throws Exception {
    CrailFile file = DataFiles.create(store, path);
    CrailBufferedOutputStream out = file.getBufferedOutputStream(length);
    out.write(bytes(path, length));
    out.sync().get(60, TimeUnit.SECONDS);
    return out;
  }

  private static void write(CrailStore store, List<String> paths, int length) throws Exception {
    for (String path : paths) {
      begin(store, path, length).close();
    }
  }

  private static void check(CrailStore store, List<String> paths, int length) throws Exception {
    for (String path : paths) {
      CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
      try (CrailBufferedInputStream in = file.getBufferedInputStream(length)) {
        assertTrue(Arrays.equals(bytes(path, length), in.readAllBytes()), path);
      }
    }
  }

  private static NameNodeClient namenodes(CrailStore store) throws Exception {
    return ((CoreStore) store).connections().namenodes();
  }

  private static ReportDatanodes.Datanode datanode(
      ProcessCluster cluster, CrailStore store, int index) throws Exception {
    return cluster.reported(store, index).orElseThrow();
  }

  private static DrainStanding standing(
      CrailStore store, int namenode, ReportDatanodes.Datanode datanode) throws Exception {
    return namenodes(store)
        .callAt(
            namenode,
            NameNodeOperations.DRAIN_DATANODE,
            new DrainDatanode.Request(datanode.uuidHigh(), datanode.uuidLow(), DrainAction.LOOK))
        .join()
        .standing();
  }

  @Test
  void waitsForASilentDatanodeUntilItIsRemoved() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(NAMENODES, 3, SETTINGS);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      List<String> paths = new ArrayList<>(paths(0, 3));
      paths.addAll(paths(1, 3));
      write(store, paths, 3 * MIB);

      CrailBufferedOutputStream held = begin(store, "/held", 6 * MIB);
      CrailProcess drain = cluster.crail("drain", address(cluster, 0));
      drain.await("being written", PATIENCE);
      cluster.datanode(0).signal("STOP");
      String silent = address(cluster, 0) + " is silent";
      drain.await(silent, PATIENCE);
      Ran second = ran(cluster, "drain", address(cluster, 0));
      assertEquals(1, second.code(), second.stdout());
      assertTrue(second.stderr().contains(silent), second.stderr());
      cluster.datanode(0).signal("CONT");
      held.close();
      assertEquals(0, drain.awaitExit(PATIENCE), () -> drain.stdout() + drain.stderr());
      assertEquals(0, cluster.datanode(0).awaitExit(PATIENCE));
      assertEquals(0, ran(cluster, "fsck").code());
      check(store, paths, 3 * MIB);
      check(store, List.of("/held"), 6 * MIB);

      // It stays open until the store closes.
      begin(store, "/lost", 6 * MIB);
      CrailProcess vain = cluster.crail("drain", address(cluster, 1));
      vain.await("being written", PATIENCE);
      cluster.datanode(1).signal("STOP");
      vain.await(address(cluster, 1) + " is silent", PATIENCE);
      Ran removed = ran(cluster, "removeDatanode", address(cluster, 1));
      assertEquals(0, removed.code(), removed.stderr());
      assertTrue(removed.stdout().contains(" was silent and is removed; "), removed.stdout());
      assertEquals(1, vain.awaitExit(PATIENCE), vain::stdout);
      assertTrue(vain.stderr().contains("fell silent before it was empty"), vain.stderr());
      Ran fsck = ran(cluster, "fsck", "--paths");
      assertEquals("/lost\n", fsck.stdout());
      cluster.datanode(1).signal("CONT");
      assertEquals(0, cluster.datanode(1).awaitExit(PATIENCE));
    }
  }

  /** A command that some namenodes do not hear of does nothing at the others. */
  @Test
  void aNamenodeThatIsDownKeepsADrainFromBeginning() throws Exception {
    Map<String, String> settings = new LinkedHashMap<>(SETTINGS);
    settings.put("crail.rpctimeout", "3s");
    try (ProcessCluster cluster = ProcessCluster.start(NAMENODES, 2, settings)) {
      cluster.namenode(1).signal("STOP");
      for (String[] each :
          new String[][] {
            {"drain", address(cluster, 0)}, {"drain", "--cancel", address(cluster, 0)}
          }) {
        Ran ran = ran(cluster, each);
        assertEquals(1, ran.code(), ran.stderr());
        assertTrue(ran.stderr().contains("namenode 1 at "), ran.stderr());
        assertTrue(ran.stderr().contains("so nothing was done"), ran.stderr());
        assertFalse(ran(cluster, "datanodes").stdout().contains("draining"));
      }
      cluster.namenode(1).signal("CONT");
    }
  }

  /**
   * A namenode has begun the drain, but its answer is lost. The command asks again if it can, or
   * says what may be; in either case the next one is right.
   */
  @ParameterizedTest
  @EnumSource(
      value = BreakingRelay.Mode.class,
      names = {"FORWARD", "CUT"})
  void aDrainGoesOnWhereItIsUnknownWhetherItHasBegun(BreakingRelay.Mode next) throws Exception {
    Map<String, String> settings = new LinkedHashMap<>(SETTINGS);
    settings.put("crail.rpctimeout", "5s");
    try (ProcessCluster cluster = ProcessCluster.start(NAMENODES, 2, settings);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
        BreakingRelay relay = new BreakingRelay(cluster.namenodeAddress(1))) {
      List<String> paths = new ArrayList<>(paths(0, 3));
      paths.addAll(paths(1, 3));
      write(store, paths, 3 * MIB);
      ReportDatanodes.Datanode datanode = datanode(cluster, store, 0);
      String address = address(cluster, 0);
      Path relayed = relayed(cluster, relay);
      AtomicBoolean begun = new AtomicBoolean();
      relay.loseAnswers(
          piece -> {
            boolean begins = holds(piece, datanode, DrainAction.BEGIN);
            begun.compareAndSet(false, begins);
            return begins;
          },
          next);
      Ran first = Ran.run(relayed, "drain", address);
      assertTrue(begun.get());
      if (next == BreakingRelay.Mode.CUT) {
        assertEquals(1, first.code(), first.stdout());
        assertTrue(first.stderr().contains("may have begun at some namenodes"), first.stderr());
        assertEquals(DrainStanding.ACTIVE, standing(store, 0, datanode));
        assertEquals(DrainStanding.DRAINING, standing(store, 1, datanode));
        Ran again = ran(cluster, "drain", address);
        assertEquals(0, again.code(), again.stderr());
      } else {
        assertEquals(0, first.code(), first.stderr());
      }
      assertEquals(0, cluster.datanode(0).awaitExit(PATIENCE));
      check(store, paths, 3 * MIB);
      assertEquals(0, ran(cluster, "fsck").code());
    }
  }

  /** A configuration for commands that reach the second namenode through a relay. */
  private static Path relayed(ProcessCluster cluster, BreakingRelay relay) throws Exception {
    String site = Files.readString(cluster.directory().resolve("crail-site.conf"));
    String direct = ":" + cluster.namenodeAddress(1).getPort();
    assertTrue(site.contains(direct), site);
    Path directory = Files.createDirectory(cluster.directory().resolve("relayed"));
    Files.writeString(
        directory.resolve("crail-site.conf"), site.replace(direct, ":" + relay.port()));
    return directory;
  }

  /** Whether a piece of a connection has this request for the datanode. */
  private static boolean holds(
      ByteBuffer piece, ReportDatanodes.Datanode datanode, DrainAction action) {
    DrainDatanode.Request request =
        new DrainDatanode.Request(datanode.uuidHigh(), datanode.uuidLow(), action);
    ByteBuffer wanted =
        ByteBuffer.allocate(DrainDatanode.Request.CODEC.length(request))
            .order(ByteOrder.LITTLE_ENDIAN);
    DrainDatanode.Request.CODEC.encode(request, wanted, 0);
    for (int at = piece.position(); at + wanted.capacity() <= piece.limit(); at++) {
      if (piece.slice(at, wanted.capacity()).equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  /** One namenode has let the datanode go before the command begins. */
  @Test
  void aDrainGoesOnWithWhatAnotherCommandHasBegun() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(NAMENODES, 3, SETTINGS);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      List<String> paths = paths(1, 3);
      write(store, paths, 3 * MIB);
      CrailBufferedOutputStream held = begin(store, paths(1, 4).get(3), 6 * MIB);
      ReportDatanodes.Datanode datanode = datanode(cluster, store, 0);
      CrailProcess first = cluster.crail("drain", address(cluster, 0));
      first.await("being written", PATIENCE);
      // That namenode has nothing there.
      Await.until(
          "a namenode lets it go",
          PATIENCE,
          () -> standing(store, 0, datanode) == DrainStanding.LET_GO);
      first.signal("TERM");
      assertEquals(143, first.awaitExit(PATIENCE), first::stderr);
      assertTrue(first.stderr().contains("--cancel"), first.stderr());
      // Back to use, everywhere, and then once more.
      Ran cancelled = ran(cluster, "drain", "--cancel", address(cluster, 0));
      assertEquals(0, cancelled.code(), cancelled.stderr());
      Await.until(
          "it is in use",
          PATIENCE,
          () -> ran(cluster, "df").stdout().contains("3 of 3 datanodes online"));
      CrailProcess second = cluster.crail("drain", address(cluster, 0));
      second.await("being written", PATIENCE);
      assertTrue(ran(cluster, "status").stdout().contains("2 of 3 datanodes online, 1 draining"));
      CrailProcess third = cluster.crail("drain", "localhost" + address(cluster, 0).substring(9));
      third.await("being written", PATIENCE);
      second.kill();
      held.close();
      assertEquals(0, third.awaitExit(PATIENCE), () -> third.stdout() + third.stderr());
      assertEquals(0, cluster.datanode(0).awaitExit(PATIENCE));
      check(store, paths, 3 * MIB);
      assertEquals(0, ran(cluster, "fsck").code());
    }
  }

  @Test
  void aDrainThatIsCancelledElsewhereEnds() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 2, SETTINGS);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      CrailBufferedOutputStream held = begin(store, "/held", 6 * MIB);
      CrailProcess drain = cluster.crail("drain", address(cluster, 0));
      drain.await("being written", PATIENCE);
      assertEquals(0, ran(cluster, "drain", "--cancel", address(cluster, 0)).code());
      assertEquals(1, drain.awaitExit(PATIENCE), drain::stdout);
      assertTrue(drain.stderr().contains("was cancelled"), drain.stderr());
      held.close();
      assertTrue(cluster.datanode(0).isAlive());
    }
  }

  /** The datanode has not heard of its drain yet, and the namenode forgets it. */
  @Test
  void aNamenodeThatRestartsIsAskedAnew() throws Exception {
    try (ProcessCluster cluster =
        ProcessCluster.start(1, 2, Map.of("crail.storage.keepalive", "6s"))) {
      cluster.datanode(0).signal("STOP");
      CrailProcess drain = cluster.crail("drain", address(cluster, 0));
      drain.await("gives out no more space; 0 B ", PATIENCE);
      cluster.restartNamenode(0);
      drain.await("does not know the datanode yet", PATIENCE);
      cluster.datanode(0).signal("CONT");
      assertEquals(0, drain.awaitExit(PATIENCE), () -> drain.stdout() + drain.stderr());
      assertEquals(0, cluster.datanode(0).awaitExit(PATIENCE));
      assertTrue(cluster.datanode(1).isAlive());
    }
  }

  /** One namenode has forgotten it, and the other one uses it again. */
  @Test
  void aDrainThatIsHalfUndoneIsNotTakenForOneThatHasEnded() throws Exception {
    try (ProcessCluster cluster =
            ProcessCluster.start(NAMENODES, 2, Map.of("crail.storage.keepalive", "6s"));
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      ReportDatanodes.Datanode datanode = datanode(cluster, store, 0);
      UUID uuid = new UUID(datanode.uuidHigh(), datanode.uuidLow());
      String address = address(cluster, 0);
      cluster.datanode(0).signal("STOP");
      CrailProcess drain = cluster.crail("drain", address);
      drain.await("gives out no more space; 0 B ", PATIENCE);
      drain.kill();
      cluster.restartNamenode(0);
      CrailException half =
          assertThrows(
              CrailException.class, () -> DrainTask.undo(cluster.configuration(), uuid, address));
      assertEquals(ErrorCode.UNAVAILABLE, half.code(), half::toString);
      assertEquals(DrainStanding.ACTIVE, standing(store, 1, datanode));
      cluster.datanode(0).signal("CONT");
      Await.until(
          "the namenode knows it again",
          PATIENCE,
          () -> standing(store, 0, datanode) != DrainStanding.UNKNOWN);
      assertTrue(DrainTask.undo(cluster.configuration(), uuid, address));
      assertTrue(cluster.datanode(0).isAlive());
      UUID unknown = new UUID(1, 2);
      assertFalse(DrainTask.undo(cluster.configuration(), unknown, address));
    }
  }

  /** Then no sign of it comes that could be waited for. */
  @Test
  void aDatanodeThatDoesNotComeBackIsNotCalledEmpty() throws Exception {
    try (ProcessCluster cluster =
        ProcessCluster.start(1, 2, Map.of("crail.storage.keepalive", "1s"))) {
      cluster.datanode(0).kill();
      CrailProcess drain = cluster.crail("drain", address(cluster, 0));
      drain.await("gives out no more space; 0 B ", PATIENCE);
      cluster.restartNamenode(0);
      drain.await("does not know the datanode yet", PATIENCE);
      assertEquals(1, drain.awaitExit(PATIENCE), () -> drain.stdout() + drain.stderr());
      assertTrue(drain.stderr().contains("see that its process has ended"), drain::stderr);
    }
  }

  @Test
  void aNamenodeWithoutSpaceKeepsNothingBackAtTheOther() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(NAMENODES, 2, SETTINGS);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      // Each namenode has 32 MiB of each datanode.
      List<String> many = paths(0, 44);
      List<String> few = paths(1, 6);
      write(store, many, MIB);
      write(store, few, MIB);
      String port = ":" + cluster.datanodeAddress(0).getPort();
      String[] stat = new String[1 + few.size()];
      stat[0] = "stat";
      for (int i = 0; i < few.size(); i++) {
        stat[1 + i] = few.get(i);
      }
      assertTrue(ran(cluster, stat).stdout().contains(port));

      CrailProcess drain = cluster.crail("drain", address(cluster, 0));
      drain.await("no space: ", PATIENCE);
      Await.until("few files move", PATIENCE, () -> !ran(cluster, stat).stdout().contains(port));
      assertTrue(drain.isAlive());
      for (String path : many.subList(0, 22)) {
        store.delete(path, false).get(60, TimeUnit.SECONDS);
      }
      assertEquals(0, drain.awaitExit(PATIENCE), () -> drain.stdout() + drain.stderr());
      check(store, many.subList(22, 44), MIB);
      check(store, few, MIB);
      assertFalse(ran(cluster, "datanodes").stdout().contains(port));
    }
  }
}
