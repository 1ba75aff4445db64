/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Addresses;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.DatanodeState;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A datanode, over all namenodes. While it is online, {@code free + used + waiting = lent}.
 *
 * @param uuid the identity of its process
 * @param tier name of its tier
 * @param storageClass the storage class that it serves
 * @param host name or address under which clients reach it
 * @param port port on which its tier serves
 * @param state how it stands; the worst of what the namenodes say
 * @param draining whether it is being removed, also while it is impaired or offline
 * @param keeps whether its bytes outlast its process
 * @param silentMillis the time since its last sign of life; the longest at any namenode
 * @param lentBytes what it lends
 * @param freeBytes what can be given out now
 * @param usedBytes what belongs to files
 * @param waitingBytes what waits for the end of leases: freed, or reserved for copies
 * @param readRate bytes that clients read from it in a second; -1 if it does not see them
 * @param writeRate bytes that clients write to it in a second; -1 if it does not see them
 * @param lostBytes what belonged to files and is lost
 * @param namenodes the namenodes with which it is registered
 * @param silentAt those of them that have not heard of it lately
 */
public record DatanodeReport(
    UUID uuid,
    String tier,
    int storageClass,
    String host,
    int port,
    DatanodeState state,
    boolean draining,
    boolean keeps,
    long silentMillis,
    long lentBytes,
    long freeBytes,
    long usedBytes,
    long waitingBytes,
    long readRate,
    long writeRate,
    long lostBytes,
    List<Integer> namenodes,
    List<Integer> silentAt) {
  /** Copies the lists. */
  public DatanodeReport {
    namenodes = List.copyOf(namenodes);
    silentAt = List.copyOf(silentAt);
  }

  /** What one namenode says. */
  public static DatanodeReport of(int namenode, ReportDatanodes.Datanode datanode) {
    boolean lost = datanode.state() == DatanodeState.LOST;
    return new DatanodeReport(
        new UUID(datanode.uuidHigh(), datanode.uuidLow()),
        datanode.tier().toString(),
        datanode.storageClass(),
        datanode.host().toString(),
        datanode.port(),
        datanode.state(),
        datanode.draining(),
        datanode.keeps(),
        datanode.silentMillis(),
        lost ? 0 : datanode.lentBytes(),
        lost ? 0 : datanode.freeBytes(),
        lost ? 0 : datanode.usedBytes(),
        lost ? 0 : datanode.waitingBytes(),
        datanode.readRate(),
        datanode.writeRate(),
        lost ? datanode.usedBytes() : 0,
        lost ? List.of() : List.of(namenode),
        datanode.state() == DatanodeState.OFFLINE ? List.of(namenode) : List.of());
  }

  /** The same datanode at several namenodes. */
  public DatanodeReport plus(DatanodeReport other) {
    return new DatanodeReport(
        uuid,
        tier,
        storageClass,
        host,
        port,
        worse(state, other.state),
        draining || other.draining,
        keeps || other.keeps,
        Math.max(silentMillis, other.silentMillis),
        lentBytes + other.lentBytes,
        freeBytes + other.freeBytes,
        usedBytes + other.usedBytes,
        waitingBytes + other.waitingBytes,
        // Each namenode hears of all bytes.
        Math.max(readRate, other.readRate),
        Math.max(writeRate, other.writeRate),
        lostBytes + other.lostBytes,
        Stream.concat(namenodes.stream(), other.namenodes.stream()).distinct().toList(),
        Stream.concat(silentAt.stream(), other.silentAt.stream()).distinct().toList());
  }

  /** A datanode that has lost bytes and has come back since is not lost. */
  private static DatanodeState worse(DatanodeState a, DatanodeState b) {
    if (a == DatanodeState.LOST) {
      return b;
    }
    return b == DatanodeState.LOST || a.compareTo(b) > 0 ? a : b;
  }

  /** Where it serves: host and port, an IPv6 address in brackets. */
  public String address() {
    return Addresses.text(host, port);
  }

  /** Names it for people. */
  public String name() {
    return "datanode " + tier + " at " + address();
  }

  /** How it stands, in a few words. */
  String standing(ReportText text) {
    return switch (state) {
      case ONLINE -> state + (lostBytes > 0 ? ", lost " + text.size(lostBytes) : "");
      case DRAINING -> state + ", " + text.size(usedBytes + waitingBytes) + " left";
      case IMPAIRED -> state + drain(text);
      case OFFLINE -> state + " for " + silentMillis / 1000 + " s" + drain(text);
      case LOST -> state + " with " + text.size(lostBytes);
    };
  }

  private String drain(ReportText text) {
    return draining ? ", draining, " + text.size(usedBytes + waitingBytes) + " left" : "";
  }
}
