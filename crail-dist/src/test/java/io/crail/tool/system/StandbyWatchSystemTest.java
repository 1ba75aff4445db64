/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.report.JsonInput;
import io.crail.tool.YamlFiles;
import io.crail.tool.metrics.Metric;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the peers of a namenode show while they lead, follow and are gone, by all their ways. */
@Timeout(600)
@Tag("once")
class StandbyWatchSystemTest {
  private static final int PEERS = 3;
  private static final String LEADS = "crail_namenode_peer_leads";
  private static final Pattern OF_PEERS = Pattern.compile("crail_namenode_(peer|standby)_.*");

  @TempDir private Path logs;
  private ProcessCluster cluster;

  /** Whether only a namenode with standbys has a metric. */
  static boolean isOfPeers(Metric metric) {
    return OF_PEERS.matcher(metric.fullName()).matches();
  }

  @BeforeEach
  void start() throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.namenode.durability", "sync");
    settings.put("crail.namenode.datapath", logs.toString());
    settings.put("crail.metrics.address", "127.0.0.1:0");
    settings.put("crail.rpctimeout", "10s");
    cluster = ProcessCluster.start(ProcessCluster.Places.on("127.0.0.1"), 1, PEERS, 1, settings);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private PrometheusText scrape(int peer) throws Exception {
    return PrometheusText.of(cluster.namenode(peer));
  }

  /** Waits until one of some peers leads. */
  private int leader(List<Integer> among) throws Exception {
    List<Integer> found = new ArrayList<>();
    Await.until(
        "a peer leads",
        ProcessCluster.PATIENCE,
        () -> {
          for (int i : among) {
            if (scrape(i).value(LEADS) == 1) {
              found.add(i);
            }
          }
          return !found.isEmpty();
        });
    return found.get(0);
  }

  private HttpResponse<String> get(int peer, String path) throws Exception {
    String page =
        cluster
            .namenode(peer)
            .await("^the cluster's page is at (http://\\S+/)$", ProcessCluster.PATIENCE)
            .group(1);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(page + path)).timeout(ProcessCluster.PATIENCE).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** Runs a command until its output has a line; returns its exit code. */
  private int untilShown(String line, String... command) throws Exception {
    Pattern pattern = Pattern.compile("(?m)^" + line + "$");
    int[] exit = new int[1];
    Await.until(
        "a line like " + line,
        ProcessCluster.PATIENCE,
        () -> {
          CrailProcess process = cluster.run(command);
          exit[0] = process.awaitExit(ProcessCluster.PATIENCE);
          return pattern.matcher(process.stdout()).find();
        });
    return exit[0];
  }

  private String row(int peer, String state) {
    String address = Pattern.quote("127.0.0.1:" + cluster.namenodeAddress(peer).getPort());
    return "0 +" + peer + " +" + address + " +" + state;
  }

  @Test
  void eachPeerShowsItselfAndTheLeaderShowsAll() throws Exception {
    int leader = leader(List.of(0, 1, 2));
    int away = (leader + 1) % PEERS;
    int other = PEERS - leader - away;
    assertEquals(0, untilShown(row(away, "standby, up to date"), "status"));
    assertEquals(0, untilShown(row(other, "standby, up to date"), "status"));
    assertEquals(0, untilShown(row(leader, "serves, in term \\d+"), "leader"));
    Await.until(
        "the standby has all",
        ProcessCluster.PATIENCE,
        () -> scrape(away).value("crail_namenode_standby_behind_entries") == 0);
    PrometheusText leading = scrape(leader);
    PrometheusText following = scrape(away);
    TreeSet<String> known = new TreeSet<>(leading.names());
    known.addAll(following.names());
    for (Metric metric : Metric.values()) {
      assertTrue(!isOfPeers(metric) || known.contains(metric.fullName()), metric::fullName);
    }
    assertEquals(leader, leading.value("crail_namenode_peer_leader"));
    assertEquals(leader, following.value("crail_namenode_peer_leader"));
    assertEquals(0, following.value(LEADS));
    assertEquals(1, following.value("crail_ready"));
    assertTrue(following.value("crail_namenode_log_records_total") > 0);
    for (String absent :
        List.of(
            "crail_namenode_peer_behind_entries",
            "crail_namenode_peer_reached",
            "crail_namenode_peer_lease",
            "crail_namenode_peer_sent_entries_total",
            "crail_namenode_peer_take_over_seconds",
            "crail_namenode_memory_bytes")) {
      assertFalse(following.names().contains(absent), absent);
    }
    assertFalse(leading.names().contains("crail_namenode_standby_silence_seconds"));
    String reached = "crail_namenode_peer_reached{peer=\"" + away + "\"}";
    assertEquals(1, leading.value(reached));
    requirePage(away, leader);
    requirePage(leader, leader);

    cluster.namenode(away).kill();
    Await.until("it is missed", ProcessCluster.PATIENCE, () -> scrape(leader).value(reached) == 0);
    assertTrue(
        scrape(leader).value("crail_namenode_peer_silence_seconds{peer=\"" + away + "\"}") >= 3);
    assertEquals(1, untilShown(row(away, "missing for \\d+ s"), "status"));
    String finding = "  broken   peer " + away + " of namenode 0 at \\S+: missing for \\d+ s";
    assertEquals(1, untilShown(finding, "status"));
  }

  private void requirePage(int peer, int leader) throws Exception {
    assertTrue(get(peer, "").body().contains("id=\"peer-rows\""));
    Object state = JsonInput.parse(get(peer, "api/cluster.json").body());
    assertEquals((double) peer, YamlFiles.at(state, "servedByPeer"));
    for (int i = 0; i < PEERS; i++) {
      Object shown = YamlFiles.at(state, "report/namenodes/0/peers/" + i);
      assertEquals(i == leader, YamlFiles.at(shown, "serves"), shown::toString);
      assertEquals(true, YamlFiles.at(shown, "answers"), shown::toString);
    }
    // Only the one that leads has served operations.
    assertEquals(peer != leader, ((List<?>) YamlFiles.at(state, "operations")).isEmpty());
  }

  /** The same process goes on with its page and its metrics. */
  @Test
  void aTakeOverIsShown() throws Exception {
    int first = leader(List.of(0, 1, 2));
    List<Integer> others = List.of((first + 1) % PEERS, (first + 2) % PEERS);
    double term = scrape(first).value("crail_namenode_peer_term");
    cluster.namenode(first).kill();
    int second = leader(others);
    PrometheusText leading = scrape(second);
    assertTrue(leading.value("crail_namenode_peer_take_over_seconds") > 0);
    assertTrue(leading.value("crail_namenode_peer_term") > term);
    assertTrue(leading.value("crail_namenode_peer_elections_total") >= 2);
    assertTrue(leading.names().contains("crail_namenode_memory_bytes"));
    requireServes(second);

    cluster.namenode(second).kill();
    int last = PEERS - first - second;
    assertEquals(1, untilShown(row(last, "standby"), "status"));
    assertEquals(1, untilShown(row(second, "missing"), "status"));
    Await.until(
        "it cannot take over",
        ProcessCluster.PATIENCE,
        () -> get(last, "ready").statusCode() == 503);
    assertEquals("peer " + last + " knows no peer that leads\n", get(last, "ready").body());
    assertTrue(scrape(last).value("crail_namenode_standby_silence_seconds") > 0);
    assertEquals(200, get(last, "").statusCode());
  }

  private void requireServes(int peer) throws Exception {
    assertEquals(1, untilShown(row(peer, "serves, in term \\d+"), "status"));
    Object state = JsonInput.parse(get(peer, "api/cluster.json").body());
    assertEquals(true, YamlFiles.at(state, "report/namenodes/0/peers/" + peer + "/serves"));
  }
}
