/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.Ran;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A day in the life of a cluster, as its operator has it: two namenodes and three datanodes are
 * filled, lose a datanode, get another one, are emptied, balanced, restarted under load and
 * examined. Reports and metrics show each step, and so does the web page, where there is a browser
 * (see {@link Browser#program}).
 */
@Tag("once")
class ClusterDaySystemTest {
  private static final boolean LONG = Boolean.getBoolean("crail.test.long");
  private static final int NAMENODES = 2;
  private static final int FILES = 36;
  private static final int BYTES = 256 << 10;
  private static final Pattern FOUND =
      Pattern.compile("(?m)^(?:lost|silent) +(/\\S+): 256 KiB of 256 KiB, datanode \\S+:\\d+ is ");

  private static final Pattern MOVED =
      Pattern.compile("(?m)^balanced; moved \\d.* in (\\d+) extents$");

  /** Whether nothing is on one of the datanodes, on the page. */
  private static final String EMPTY_ON_PAGE =
      "[...document.querySelectorAll('#datanode-rows tr')]"
          + ".some(row => row.cells[6].textContent === '0 B')";

  private static final Map<String, String> SETTINGS =
      Map.of(
          "crail.lease", "6s",
          "crail.namenode.freemargin", "200ms",
          "crail.metrics.address", "127.0.0.1:0",
          "crail.storage.keepalive", "400ms",
          "crail.storage.localmap", "false");

  private ProcessCluster cluster;
  private CrailStore store;

  /** Null without one. */
  private Browser browser;

  /** Files that were written by the load. */
  private final AtomicInteger loads = new AtomicInteger();

  /**
   * The datanodes that have been restarted, and the one that is down for that; empty if none is.
   */
  private final Set<String> restarted = ConcurrentHashMap.newKeySet();

  private volatile String down = "";

  @Test
  void aDay(@TempDir Path elsewhere) throws Exception {
    try (ProcessCluster started = ProcessCluster.start(NAMENODES, 0, SETTINGS);
        Browser opened =
            Browser.program().isPresent() ? Browser.start(Browser.program().get()) : null) {
      cluster = started;
      browser = opened;
      if (browser == null) {
        System.out.println("there is no browser, so the page is not checked");
      }
      for (int index = 0; index < NAMENODES; index++) {
        // Now they learn each other's ports, so that the page of one shows both.
        cluster.restartNamenode(index);
      }
      for (int i = 0; i < 3; i++) {
        cluster.startDatanode("64m", -1);
      }
      awaitDatanodes(3);
      store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
      try {
        fill();
        Set<String> lost = loseDatanode(2);
        replaceDatanode(2, lost);
        if (LONG) {
          emptyDatanodeUnderLoad(0, lost);
          addDatanode();
          rebalance(lost);
          restartDatanodesUnderLoad(lost, 1, 2);
        }
      } finally {
        store.close();
      }
      if (LONG) {
        restartNamenodes();
        findWhatIsBroken(elsewhere);
      }
    }
  }

  /** Runs a command; it has to end with this code. */
  private String crail(int code, String... arguments) {
    Ran ran = Ran.run(cluster.directory(), arguments);
    assertEquals(code, ran.code(), () -> List.of(arguments) + " gave " + ran);
    return ran.stdout();
  }

  /** A condition on the text of an element of the page. */
  private static String shows(String selector, String text) {
    return Browser.textOf(selector) + ".includes('" + text + "')";
  }

  /** Opens the page of namenode 0, waits for what it has to show, and keeps a picture. */
  private void page(String step, String... conditions) throws Exception {
    if (browser == null) {
      return;
    }
    String url =
        cluster
            .namenode(0)
            .await("^the cluster's page is at (http://\\S+/)$", ProcessCluster.PATIENCE)
            .group(1);
    browser.openPage(url, 1280, false);
    for (String condition : conditions) {
      browser.await(condition);
    }
    browser.keep("day-" + step);
    assertEquals(List.of(), browser.complaints(), step);
    // What comes next may end the namenode, and the page would complain of that.
    browser.open("about:blank");
  }

  /** How many namenodes and datanodes are well, on the page. */
  private static String wellOnPage(int namenodes, String datanodes) {
    return shows("#tiles", "Namenodes" + namenodes + " of " + NAMENODES)
        + " && "
        + shows("#tiles", "Datanodes" + datanodes + "online");
  }

  /** The sum of a metric over all namenodes. */
  private double sum(String series) throws Exception {
    double sum = 0;
    for (int index = 0; index < NAMENODES; index++) {
      sum += PrometheusText.of(cluster.namenode(index)).value(series);
    }
    return sum;
  }

  private double used() throws Exception {
    return sum("crail_namenode_used_bytes{class=\"0\"}");
  }

  /** Each namenode counts this many datanodes that serve, and so does the report. */
  private void awaitDatanodes(int count) throws Exception {
    String online = "crail_namenode_datanodes{state=\"online\"}";
    Await.until(
        count + " datanodes at each namenode",
        ProcessCluster.PATIENCE,
        () -> {
          for (int index = 0; index < NAMENODES; index++) {
            if (PrometheusText.of(cluster.namenode(index)).value(online) != count) {
              return false;
            }
          }
          return true;
        });
    assertTrue(crail(0, "df").contains(count + " of "), () -> crail(0, "df"));
  }

  private static String path(int number) {
    return "/day-" + number;
  }

  private static byte[] content(int number) {
    byte[] bytes = new byte[BYTES];
    Arrays.fill(bytes, (byte) number);
    return bytes;
  }

  private void write(String path, byte[] bytes) throws Exception {
    CrailFile file = DataFiles.create(store, path);
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(bytes.length)) {
      out.write(bytes);
    }
  }

  private byte[] read(String path) throws Exception {
    CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      return in.readAllBytes();
    }
  }

  private void fill() throws Exception {
    double before = sum("crail_namenode_nodes{type=\"datafile\"}");
    for (int number = 0; number < FILES; number++) {
      write(path(number), content(number));
    }
    assertEquals((double) FILES * BYTES, used());
    assertEquals(FILES, sum("crail_namenode_nodes{type=\"datafile\"}") - before);
    String fsck = crail(0, "fsck");
    assertTrue(fsck.endsWith("accounts are right\n"), fsck);
    page(
        "1-filled",
        wellOnPage(2, "3 of 3"),
        shows("#tiles", "Used9 MiB of 192 MiB"),
        shows("#tiles", "Namespace" + FILES + " nodes"),
        Browser.textOf("#trouble") + " === ''",
        "document.querySelectorAll('#node-rows tr').length === " + FILES);
  }

  private static Set<String> found(String fsck) {
    return FOUND.matcher(fsck).results().map(line -> line.group(1)).collect(Collectors.toSet());
  }

  /** Kills a datanode, and returns the files that are lost with it. */
  private Set<String> loseDatanode(int index) throws Exception {
    cluster.datanode(index).kill();
    Await.until(
        "both namenodes miss it",
        ProcessCluster.PATIENCE,
        () -> sum("crail_namenode_datanodes{state=\"offline\"}") == NAMENODES);
    awaitDatanodes(2);
    String fsck = crail(1, "fsck");
    Set<String> silent = found(fsck);
    assertTrue(fsck.contains("lost: 0 files (0 B); silent: " + silent.size() + " files"), fsck);
    assertTrue(silent.size() > 0 && silent.size() < FILES, fsck);
    page(
        "2-datanode-killed",
        wellOnPage(2, "2 of 3"),
        shows("#datanode-rows td.bad", "offline"),
        shows("#tiles", "Used9 MiB"));
    return silent;
  }

  /** Starts one in its place, which is empty. What is lost is named, and removed. */
  private void replaceDatanode(int index, Set<String> lost) throws Exception {
    cluster.startDatanodeAgain(index);
    awaitDatanodes(3);
    Await.until(
        "the same files are lost",
        ProcessCluster.PATIENCE,
        () -> Ran.run(cluster.directory(), "fsck", "--paths").stdout().lines().count() > 0);
    String[] paths = crail(1, "fsck", "--paths").lines().toArray(String[]::new);
    assertEquals(new TreeSet<>(lost), new TreeSet<>(List.of(paths)));
    assertLost(lost);
    assertKept(lost);
    page(
        "3-bytes-lost",
        wellOnPage(2, "3 of 3"),
        shows("#class-rows td.bad", "\\u2716 "),
        shows("#datanode-rows td.bad", "lost"));
    List<String> remove = new ArrayList<>(List.of("rm"));
    remove.addAll(lost);
    crail(0, remove.toArray(new String[0]));
    assertTrue(crail(0, "fsck").contains("lost: 0 files (0 B); silent: 0 files"));
    assertEquals((double) (FILES - lost.size()) * BYTES, used());
    page("4-lost-files-removed", wellOnPage(2, "3 of 3"), "!(" + Browser.has("td.bad") + ")");
  }

  /** There are such files, and reading them fails with that reason. */
  private void assertLost(Set<String> paths) {
    assertFalse(paths.isEmpty());
    for (String path : paths) {
      Exception failure = assertThrows(Exception.class, () -> read(path), path);
      assertEquals(ErrorCode.DATA_LOST, codeOf(failure), failure::toString);
    }
  }

  private static ErrorCode codeOf(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CrailException crail) {
        return crail.code();
      }
    }
    throw new AssertionError("no typed error", failure);
  }

  private void addDatanode() throws Exception {
    double before = sum("crail_namenode_capacity_bytes{class=\"0\"}");
    cluster.startDatanode("64m", -1);
    awaitDatanodes(3);
    assertEquals(
        before + (64 << 20), sum("crail_namenode_capacity_bytes{class=\"0\"}"), "capacity");
    page("6-datanode-added", wellOnPage(2, "3 of 3"), shows("#tiles", "of 192 MiB"), EMPTY_ON_PAGE);
  }

  /** The new datanode, on which nothing is, gets its share. */
  private void rebalance(Set<String> lost) throws Exception {
    String said = crail(0, "rebalance", "-t", "1");
    Matcher moved = MOVED.matcher(said);
    assertTrue(moved.find() && Integer.parseInt(moved.group(1)) > 0, said);
    assertKept(lost);
    page("7-rebalanced", wellOnPage(2, "3 of 3"), "!(" + EMPTY_ON_PAGE + ")");
  }

  /**
   * Writes, reads and deletes. Nothing may fail but reads of what is at a datanode that was
   * restarted, or is down.
   */
  private final class Load implements AutoCloseable {
    private final Set<String> lost;
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final Future<Void> running;
    private volatile boolean over;

    Load(Set<String> lost) {
      this.lost = lost;
      running = thread.submit(this::run);
    }

    private Void run() throws Exception {
      while (!over) {
        int number = loads.get();
        write("/load-" + number, content(number));
        read("/load-" + number, content(number));
        int old = number % FILES;
        if (!lost.contains(path(old))) {
          read(path(old), content(old));
        }
        if (number >= 20) {
          store.delete("/load-" + (number - 20), false).get(60, TimeUnit.SECONDS);
        }
        loads.incrementAndGet();
      }
      return null;
    }

    private void read(String path, byte[] content) throws Exception {
      String downBefore = down;
      byte[] bytes;
      try {
        bytes = ClusterDaySystemTest.this.read(path);
      } catch (IOException | ExecutionException failure) {
        Set<String> places = places(path);
        boolean isLost =
            switch (codeOf(failure)) {
              case DATA_LOST -> places.stream().anyMatch(restarted::contains);
              case UNAVAILABLE -> places.contains(downBefore) || places.contains(down);
              default -> false;
            };
        if (isLost) {
          return;
        }
        throw new AssertionError(path + " at " + places, failure);
      }
      assertArrayEquals(content, bytes, path);
    }

    void awaitMore() throws Exception {
      int goal = loads.get() + 40;
      Await.until(
          "the load goes on",
          ProcessCluster.PATIENCE,
          () -> {
            if (running.isDone()) {
              running.get();
            }
            return loads.get() >= goal;
          });
    }

    /** Ends it, and fails if it has failed. */
    void end() throws Exception {
      over = true;
      running.get(60, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws Exception {
      over = true;
      thread.shutdownNow();
      assertTrue(thread.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  /** The datanodes that have a file. */
  private Set<String> places(String path) throws Exception {
    CrailFile file = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    Set<String> places = new TreeSet<>();
    for (CrailBlockLocation each : file.getBlockLocations(0, file.getCapacity())) {
      places.addAll(List.of(each.getNames()));
    }
    return places;
  }

  private String address(int datanode) {
    InetSocketAddress address = cluster.datanodeAddress(datanode);
    return address.getHostString() + ":" + address.getPort();
  }

  /** The datanode ends when nothing is on it any more, and no operation fails meanwhile. */
  private void emptyDatanodeUnderLoad(int index, Set<String> lost) throws Exception {
    try (Load load = new Load(lost)) {
      load.awaitMore();
      empty(index);
      assertEquals(0, cluster.datanode(index).awaitExit(ProcessCluster.PATIENCE));
      load.awaitMore();
      load.end();
    }
    awaitDatanodes(2);
    assertTrue(crail(0, "fsck").contains("lost: 0 files (0 B); silent: 0 files"));
    assertKept(lost);
  }

  /** All files of the day are whole, but for the lost ones. */
  private void assertKept(Set<String> lost) throws Exception {
    for (int number = 0; number < FILES; number++) {
      if (!lost.contains(path(number))) {
        assertArrayEquals(content(number), read(path(number)), path(number));
      }
    }
  }

  /** Nothing is written there any more; then what is there moves to the others. */
  private void empty(int index) throws Exception {
    String name = address(index);
    crail(0, "removeDatanode", name);
    Await.until(
        "the datanode drains",
        ProcessCluster.PATIENCE,
        () -> sum("crail_namenode_datanodes{state=\"draining\"}") == NAMENODES);
    page(
        "5-drain-under-load",
        wellOnPage(2, "2 of 3"),
        shows("#drain-rows th", name),
        shows("#drain-rows", "belong to files"),
        shows("#operation-rows", "create"),
        Browser.has("#rate path.curve[d*=L]"));
    crail(0, "drain", name);
  }

  /**
   * Ends one after the other in order, and starts it again, empty. What lay there is lost, and said
   * to be; nothing else fails.
   */
  private void restartDatanodesUnderLoad(Set<String> lost, int... indices) throws Exception {
    Set<String> gone = new TreeSet<>(lost);
    try (Load load = new Load(lost)) {
      for (int index : indices) {
        String address = address(index);
        Set<String> there = new TreeSet<>();
        for (int number = 0; number < FILES; number++) {
          if (!gone.contains(path(number)) && places(path(number)).contains(address)) {
            there.add(path(number));
          }
        }
        load.awaitMore();
        restarted.add(address);
        down = address;
        cluster.datanode(index).close();
        awaitDatanodes(2);
        load.awaitMore();
        cluster.startDatanodeAgain(index);
        awaitDatanodes(3);
        down = "";
        load.awaitMore();
        assertLost(there);
        gone.addAll(there);
        assertTrue(gone.size() < FILES, gone::toString);
        assertKept(gone);
      }
      load.end();
    }
    crail(0, "fsck", "--repair", "--yes");
    page("8-datanodes-restarted", wellOnPage(2, "3 of 3"), "!(" + Browser.has("td.bad") + ")");
    assertTrue(crail(0, "fsck").contains("lost: 0 files (0 B); silent: 0 files"));
  }

  /** A namenode is empty then, and datanodes come back by themselves. */
  private void restartNamenodes() throws Exception {
    for (int index = 0; index < NAMENODES; index++) {
      cluster.restartNamenode(index);
    }
    awaitDatanodes(3);
    assertEquals(0, used());
    Path words = cluster.directory().resolve("words");
    Files.write(words, content(7));
    Await.until(
        "what was in use has rested",
        ProcessCluster.PATIENCE,
        () -> Ran.run(cluster.directory(), "put", "-f", words.toString(), "/words").code() == 0);
    assertEquals(BYTES, used());
    page("9-namenodes-restarted", wellOnPage(2, "3 of 3"), shows("#node-rows", "words"));
    crail(0, "rm", "/words");
  }

  /** Five things, each of which another line names, with a cure below it. */
  private void findWhatIsBroken(Path elsewhere) throws Exception {
    String small = "crail.storage.tcp.storagelimit=1m";
    crail(0, "doctor", "--set", small);
    Files.writeString(elsewhere.resolve("crail-site.conf"), "crail.nonsense 1\n");
    Ran misspelt = Ran.run(elsewhere, "doctor");
    assertEquals(1, misspelt.code());
    assertTrue(misspelt.stdout().contains("broken   "), misspelt::toString);
    assertTrue(misspelt.stdout().contains("crail-site.conf:1: unknown key"), misspelt::toString);
    cluster.datanode(1).kill();
    Await.until(
        "both namenodes miss it",
        ProcessCluster.PATIENCE,
        () -> sum("crail_namenode_datanodes{state=\"offline\"}") == NAMENODES);
    cluster.namenode(1).kill();
    page(
        "10-namenode-and-datanode-killed",
        wellOnPage(1, "2 of 3"),
        shows("#trouble", "Without the part of namenode 1 at "),
        shows("#namenode-rows td.bad", "no answer"),
        shows("#datanode-rows td.bad", "offline"));
    String doctor =
        crail(
            1,
            "doctor",
            "--set",
            "crail.rpctimeout=5s",
            "--set",
            "crail.storage.types=tcp,rdma",
            "--set",
            "crail.storage.tcp.storagelimit=1000t",
            "--set",
            "crail.storage.rdma.datapath=/proc");
    for (String broken :
        List.of(
            "namenode 1 at .*",
            "datanode tcp at .* is silent at namenodes \\[0\\]",
            "the data path .* lends 1000 TiB",
            "the data path /proc .*")) {
      assertTrue(
          Pattern.compile("(?m)^  broken   " + broken + "$\n +\\S").matcher(doctor).find(),
          () -> broken + " is not in\n" + doctor);
    }
  }
}
