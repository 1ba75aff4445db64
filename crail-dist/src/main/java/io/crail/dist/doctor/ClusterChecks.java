/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Addresses;
import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.dist.admin.AdminClient;
import io.crail.dist.command.ByteText;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Asks all namenodes, and compares what they say. */
final class ClusterChecks {
  /** A storage class is nearly full when less than one part of this is free. */
  private static final int FULL = 20;

  private static final class Datanode {
    private final String name;
    private final List<Integer> known = new ArrayList<>();
    private final List<Integer> silent = new ArrayList<>();

    Datanode(String name) {
      this.name = name;
    }
  }

  private final AdminClient cluster;
  private final List<Finding> findings = new ArrayList<>();
  private final List<Integer> answering = new ArrayList<>();
  private final Map<UUID, Datanode> datanodes = new LinkedHashMap<>();
  private final Map<Integer, long[]> classes = new TreeMap<>();

  ClusterChecks(AdminClient cluster) {
    this.cluster = cluster;
  }

  /** Runs all checks. */
  List<Finding> run() throws InterruptedException {
    for (int index = 0; index < cluster.count(); index++) {
      try {
        examine(index);
        answering.add(index);
      } catch (CrailException e) {
        findings.add(
            Finding.broken(
                cluster.name(index) + " does not answer: " + e.getMessage(),
                "on that host: crail namenode -i " + index + ", or start-crail for all"));
      } catch (IOException e) {
        findings.add(
            Finding.broken(
                cluster.name(index) + " cannot be reached: " + e.getMessage(),
                "look at crail.namenode.address"));
      }
    }
    if (!answering.isEmpty()) {
      compareDatanodes();
      compareClasses();
    }
    return findings;
  }

  private void examine(int index) throws IOException, InterruptedException {
    cluster.ask(index, NameNodeOperations.PING, new Ping.Request(1));
    long begin = System.nanoTime();
    cluster.ask(index, NameNodeOperations.PING, new Ping.Request(2));
    long micros = (System.nanoTime() - begin) / 1000;
    findings.add(Finding.ok(cluster.name(index) + " answers in " + micros + " us"));
    for (int id : cluster.datanodes(index)) {
      add(index, id);
    }
    Usage.Response usage = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
    for (ClassUsage each : usage.classes()) {
      long[] sums = classes.computeIfAbsent(each.storageClass(), key -> new long[2]);
      sums[0] += each.capacityBytes();
      sums[1] += each.freeBytes() + each.waitingBytes();
    }
  }

  private void add(int index, int id) throws IOException, InterruptedException {
    DescribeDatanode.Response description;
    try {
      description =
          cluster.ask(
              index, NameNodeOperations.DESCRIBE_DATANODE, new DescribeDatanode.Request(id, 0));
    } catch (CrailException e) {
      if (e.code() == ErrorCode.UNKNOWN_DATANODE) {
        // It was forgotten since it was listed.
        return;
      }
      throw e;
    }
    String address = Addresses.text(description.host().toString(), description.port());
    String name = "datanode " + Printable.line(description.tier() + " at " + address);
    Datanode datanode =
        datanodes.computeIfAbsent(
            new UUID(description.uuidHigh(), description.uuidLow()), uuid -> new Datanode(name));
    datanode.known.add(index);
    if (!description.online()) {
      datanode.silent.add(index);
    }
  }

  private void compareDatanodes() {
    if (datanodes.isEmpty()) {
      findings.add(
          Finding.broken(
              "there is no datanode, so there is no space",
              "name hosts in conf/datanodes and run start-crail, or on a host: crail datanode"));
    }
    for (Datanode datanode : datanodes.values()) {
      if (!datanode.silent.isEmpty()) {
        findings.add(
            Finding.broken(
                datanode.name + " is silent at namenodes " + datanode.silent,
                "if it is dead, its data are lost: start another one; see its log"));
      } else if (datanode.known.size() < answering.size()) {
        List<Integer> unknown = new ArrayList<>(answering);
        unknown.removeAll(datanode.known);
        findings.add(
            Finding.warning(
                datanode.name + " is not known at namenodes " + unknown,
                "it registers by itself within seconds; else see its log"));
      } else {
        findings.add(Finding.ok(datanode.name + " is online"));
      }
    }
  }

  private void compareClasses() {
    classes.forEach(
        (number, sums) -> {
          String text =
              "storage class %d: %s of %s free"
                  .formatted(number, ByteText.of(sums[1]), ByteText.of(sums[0]));
          findings.add(
              sums[0] > 0 && sums[1] < sums[0] / FULL
                  ? Finding.warning(text, "delete what is not needed, or add a datanode")
                  : Finding.ok(text));
        });
  }
}
