/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.testkit.rdma.RdmaHost;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What contracts run over, and the one place that says so: a new tier adds an entry here, and every
 * contract that is for {@link EachTier} runs over it.
 *
 * <p>JUnit selects classes by their tags, and a contract's class has the same tags for all its
 * tiers. So the tag "tiers" says that it is a contract, and the place where its JVM runs says which
 * tiers are there: Maven runs it on any host, and ci/rdma in the test machine, where {@code
 * -Dcrail.test.place=machine}. What would only repeat there what it tells on any host has the tag
 * "repeat".
 */
public enum Tier {
  /** All over the loopback interface. */
  TCP(Place.HOST, Kind.TIER, 64 << 20, List.of("tcp"), Map.of()),
  /** As TCP, with the datanodes' memory mapped, where a contract tells the two apart. */
  MAPPED(Place.HOST, Kind.MORE, 64 << 20, List.of("tcp"), Map.of()),
  /**
   * All over RDMA, to the second device of the test machine; with more space, for what was freed
   * rests.
   */
  RDMA(Place.MACHINE, Kind.TIER, 160 << 20, List.of("rdma"), rdma("rdma")),
  /** Metadata over RDMA; every other datanode of the only class is one over TCP. */
  MIXED(Place.MACHINE, Kind.MORE, 160 << 20, List.of("rdma", "tcp"), rdma("rdma,tcp"));

  /** Where a tier can be tested. */
  private enum Place {
    /** On any host. */
    HOST,
    /** In the test machine, or on a host with RDMA that stands for it. */
    MACHINE
  }

  /** How a tier comes into a contract. */
  enum Kind {
    /** By itself, into all of them. */
    TIER,
    /** Into those that name it: another way, or several tiers at once. */
    MORE
  }

  private static final Place HERE =
      Place.valueOf(System.getProperty("crail.test.place", "host").toUpperCase(Locale.ROOT));

  private final Place place;
  private final Kind kind;
  private final long datanodeBytes;
  private final List<String> types;
  private final Map<String, String> settings;

  Tier(
      Place place,
      Kind kind,
      long datanodeBytes,
      List<String> types,
      Map<String, String> settings) {
    this.place = place;
    this.kind = kind;
    this.datanodeBytes = datanodeBytes;
    this.types = types;
    this.settings = settings;
  }

  private static Map<String, String> rdma(String types) {
    return Map.of(
        "crail.namenode.rpctype", "darpc",
        "crail.namenode.darpc.connecttimeout", "20s",
        "crail.storage.types", types,
        "crail.storage.localmap", "false",
        "crail.storage.rdma.interface", RdmaHost.SERVER,
        "crail.storage.rdma.connecttimeout", "20s",
        "crail.storage.tcp.interface", RdmaHost.SERVER,
        "crail.storage.tcp.connecttimeout", "20s");
  }

  /** Whether it can be tested where this JVM runs. */
  boolean isHere() {
    return place == HERE;
  }

  Kind kind() {
    return kind;
  }

  /** Space of each datanode. */
  public long datanodeBytes() {
    return datanodeBytes;
  }

  /** The types of the datanodes: each has the next one, in turn. */
  public List<String> types() {
    return types;
  }

  /** What servers and clients have to be told. */
  public Map<String, String> settings() {
    return settings;
  }

  /** The address of the servers. */
  public String host() {
    return place == Place.HOST ? "127.0.0.1" : RdmaHost.SERVER;
  }

  /** The address of the clients. */
  public String clientHost() {
    return place == Place.HOST ? "127.0.0.1" : RdmaHost.CLIENT;
  }

  /** Whether a contract that has two ways to the bytes is to map them. */
  public boolean isMapped() {
    return this == MAPPED;
  }

  /** Whether seconds pass for what takes a moment elsewhere. */
  public boolean isSlow() {
    return place == Place.MACHINE;
  }

  /** Whether datanodes refuse who comes late, so that space can be given out again at once. */
  public boolean checksGeneration() {
    return place == Place.HOST;
  }

  /** Most bytes that a call to a namenode allocates, at both ends. */
  public int bytesOfCall() {
    // Over TCP: Netty's entry for what is written, on each side.
    return place == Place.HOST ? 160 : 0;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
