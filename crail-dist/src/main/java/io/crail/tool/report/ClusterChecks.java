/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.ByteText;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.DatanodeState;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Says what is wrong with a cluster, by what its namenodes say. Stateless. */
public final class ClusterChecks {
  /** A storage class is nearly full when less than one part of this is free. */
  private static final int FULL = 20;

  /** How long a new start that has lost data is mentioned. */
  private static final Duration NOTICE = Duration.ofDays(1);

  private ClusterChecks() {}

  /** What there is to say, good and bad. */
  public static List<Finding> of(ClusterReport cluster) {
    List<Finding> findings = new ArrayList<>();
    for (NamenodeReport each : cluster.namenodes()) {
      findings.add(check(each));
      each.peers().stream().map(ClusterChecks::check).forEach(findings::add);
    }
    cluster.answering().stream()
        .filter(each -> isNewSuccessor(each, cluster.at()))
        .forEach(each -> findings.add(emptied(each)));
    List<Integer> answering = cluster.answering().stream().map(NamenodeReport::index).toList();
    if (answering.isEmpty()) {
      return findings;
    }
    if (cluster.members().isEmpty()) {
      findings.add(
          Finding.broken(
              "there is no datanode, so there is no space",
              "name hosts in conf/datanodes and run start-crail, or on a host: crail datanode"));
    }
    cluster.members().forEach(each -> findings.add(check(each, answering)));
    for (DatanodeReport each : cluster.datanodes()) {
      if (each.lostBytes() > 0) {
        findings.add(
            Finding.broken(
                each.name()
                    + " is gone, and "
                    + ByteText.of(each.lostBytes())
                    + " of files with it",
                "'crail fsck' names the files; delete them"));
      }
    }
    cluster.classes().stream()
        .filter(each -> each.capacityBytes() > 0)
        .forEach(each -> findings.add(check(each)));
    return findings;
  }

  /** What there is to say of how this host reaches namenodes. */
  public static List<Finding> reach(ClusterReport cluster) {
    return cluster.namenodes().stream()
        .map(
            each ->
                each.answers()
                    ? Finding.ok(each.name() + " answers this host")
                    : Finding.broken(
                        each.name() + " does not answer this host: " + each.problem(),
                        "if it answers others, look at routes, names and firewalls between them"))
        .toList();
  }

  private static Finding check(NamenodeReport namenode) {
    if (!namenode.answers() && !namenode.peers().isEmpty()) {
      return Finding.broken(
          namenode.name() + " does not answer: " + namenode.problem(),
          "it serves only while a majority of its peers reach each other, each on its port plus"
              + " crail.namenode.peerport");
    }
    if (!namenode.answers()) {
      return Finding.broken(
          namenode.name() + " does not answer: " + namenode.problem(),
          "on that host: crail namenode -i "
              + namenode.index()
              + ", or start-crail for all; it starts empty, and what it held is lost, unless"
              + " crail.namenode.durability says otherwise");
    }
    String refusal = namenode.log().map(NamenodeReport.Log::refusal).orElse("");
    if (!refusal.isEmpty()) {
      return Finding.broken(
          namenode.name() + " refuses changes: " + refusal,
          "make space on its disk, at crail.namenode.datapath, or look why it is slow");
    }
    long left = namenode.memoryLimitBytes() - namenode.memoryBytes();
    return left < namenode.memoryLimitBytes() / FULL
        ? Finding.warning(
            String.format(
                Locale.ROOT,
                "%s uses %s of the %s of heap that it has for nodes",
                namenode.name(),
                ByteText.of(namenode.memoryBytes()),
                ByteText.of(namenode.memoryLimitBytes())),
            "delete files, or give it more heap: CRAIL_NAMENODE_OPTS in conf/crail-env.sh")
        : Finding.ok(namenode.name() + " answers in " + namenode.micros() + " us");
  }

  private static Finding check(NamenodeReport.Peer peer) {
    String state = peer.name() + ": " + peer.state();
    if (peer.joins()) {
      return Finding.warning(
          state,
          "it joins by itself once it runs; until then, it does not count towards the majority");
    } else if (!peer.answers()) {
      return Finding.broken(
          state,
          "on that host: crail namenode -i "
              + peer.namenode()
              + " -a <host>, or start-crail for all; without a majority nothing is served");
    }
    return peer.isLate()
        ? Finding.warning(
            state, "it catches up by itself if its processor, disk and network are fast enough")
        : Finding.ok(state);
  }

  private static boolean isNewSuccessor(NamenodeReport namenode, Instant now) {
    return namenode.successor()
        && namenode.started().filter(at -> at.plus(NOTICE).isAfter(now)).isPresent();
  }

  private static Finding emptied(NamenodeReport namenode) {
    return Finding.warning(
        namenode.name()
            + " was started anew at "
            + namenode.started().orElseThrow().truncatedTo(ChronoUnit.SECONDS)
            + ", and all that was stored there before is gone",
        "programs have to write their data again; this notice ends a day after the start");
  }

  private static Finding check(DatanodeReport datanode, List<Integer> answering) {
    List<Integer> unknown = new ArrayList<>(answering);
    unknown.removeAll(datanode.namenodes());
    if (!datanode.silentAt().isEmpty()) {
      return Finding.broken(
          datanode.name() + " is silent at namenodes " + datanode.silentAt(),
          "if it is dead, its data are lost: start another one; see its log");
    } else if (datanode.state() == DatanodeState.IMPAIRED) {
      return Finding.broken(
          datanode.name() + " has lost a target, and files there cannot be read until it is back",
          "see its log, which names the target; new data go to other datanodes if they have room");
    } else if (datanode.state() == DatanodeState.DRAINING) {
      // A namenode that has nothing there any more has forgotten it.
      String left = ByteText.of(datanode.usedBytes() + datanode.waitingBytes());
      return Finding.ok(datanode.name() + " is being removed, " + left + " left");
    } else if (!unknown.isEmpty()) {
      return Finding.warning(
          datanode.name() + " is not known at namenodes " + unknown,
          "it registers by itself within seconds; else see its log");
    }
    return Finding.ok(datanode.name() + " is online");
  }

  /** What there is to say of how long datanodes take to answer this host. */
  public static List<Finding> of(ClusterReport cluster, List<DatanodeLatency> latencies) {
    Map<UUID, DatanodeReport> datanodes =
        cluster.datanodes().stream()
            .collect(Collectors.toMap(DatanodeReport::uuid, Function.identity()));
    List<Finding> findings = new ArrayList<>();
    for (DatanodeLatency each : latencies) {
      DatanodeReport datanode = datanodes.get(each.uuid());
      if (!each.problem().isEmpty()) {
        findings.add(
            Finding.warning(
                datanode.name() + " does not answer this host: " + each.problem(),
                "programs of this host cannot use it; look at the network and at its log"));
      } else if (each.slow()) {
        findings.add(
            Finding.warning(
                datanode.name()
                    + " is slow: it answers this host in "
                    + each.micros()
                    + " us, the median of storage class "
                    + datanode.storageClass()
                    + " is "
                    + each.classMicros()
                    + " us",
                "look at its host and the network to it; 'crail drain' moves its data away"));
      }
    }
    if (!latencies.isEmpty() && findings.isEmpty()) {
      findings.add(Finding.ok("no datanode is much slower than the others, for this host"));
    }
    return findings;
  }

  private static Finding check(ClassUsage usage) {
    long free = usage.freeBytes() + usage.waitingBytes();
    String text =
        String.format(
            Locale.ROOT,
            "storage class %d: %s of %s free",
            usage.storageClass(),
            ByteText.of(free),
            ByteText.of(usage.capacityBytes()));
    return free < usage.capacityBytes() / FULL
        ? Finding.warning(text, "delete what is not needed, or add a datanode")
        : Finding.ok(text);
  }
}
