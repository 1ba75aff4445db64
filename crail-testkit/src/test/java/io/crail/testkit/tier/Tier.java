/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.nvmf.NvmeTransport;
import io.crail.rpc.netty.NettyKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.testkit.nvmf.KernelTarget;
import io.crail.testkit.nvmf.TestInitiators;
import io.crail.testkit.rdma.RdmaHost;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What contracts run over, and the one place that says so. A new tier adds an entry here, with its
 * bench, and every contract that is for {@link EachTier} runs over it.
 *
 * <p>JUnit selects classes by their tags, and a contract's class has the same tags for all its
 * tiers. So the tag "tiers" says that it is a contract, and the place where its JVM runs says which
 * tiers are there: Maven runs it on any host, and ci/rdma in the test machine, with {@code
 * -Dcrail.test.place=machine}. A contract that would only repeat in there what it tells on any host
 * has the tag "repeat".
 */
public enum Tier {
  /** All over the loopback interface. */
  TCP(
      Place.HOST,
      true,
      () -> new TcpBench(NettyKeys.Io.AUTO, TcpStorageKeys.Memory.FILE),
      Cluster.ofTier(64 << 20, Map.of(), "tcp")),
  /** As TCP, with the datanodes' memory mapped, for contracts that tell the two apart. */
  MAPPED(Place.HOST, true, MappedBench::new, Cluster.ofMore(64 << 20, Map.of(), "tcp")),
  /** TCP over the JDK's selectors. */
  TCP_NIO(
      Place.HOST,
      true,
      () -> new TcpBench(NettyKeys.Io.NIO, TcpStorageKeys.Memory.FILE),
      Cluster.NONE),
  /** TCP over io_uring, where the kernel has it. */
  TCP_IO_URING(
      Place.HOST,
      true,
      () -> new TcpBench(NettyKeys.Io.IO_URING, TcpStorageKeys.Memory.FILE),
      Cluster.NONE),
  /** TCP with regions in the datanode's own memory. */
  TCP_ANONYMOUS(
      Place.HOST,
      true,
      () -> new TcpBench(NettyKeys.Io.AUTO, TcpStorageKeys.Memory.ANONYMOUS),
      Cluster.NONE),
  /** NVMe over TCP, to a target in this process with blocks of 512 bytes. */
  NVMF(
      Place.HOST,
      false,
      () -> new NvmfBench(512, TestInitiators.JAVA),
      Cluster.ofTierIfLong(
          160 << 20,
          Map.of(
              "crail.storage.types",
              OwnTargetTier.NAME,
              "crail.storage.nvmf.connecttimeout",
              "20s"),
          OwnTargetTier.NAME)),
  /** The same with blocks of 4,096 bytes. */
  NVMF_4096(Place.HOST, false, () -> new NvmfBench(4096, TestInitiators.JAVA), Cluster.NONE),
  /** As NVMF, by SPDK; skipped where its library is not. */
  NVMF_SPDK(
      Place.HOST,
      false,
      () -> new NvmfBench(512, TestInitiators.SPDK),
      Cluster.ofTierIfLong(
          160 << 20,
          Map.of(
              "crail.storage.types",
              OwnTargetTier.NAME,
              "crail.storage.nvmf.initiator",
              TestInitiators.SPDK,
              "crail.storage.nvmf.connecttimeout",
              "20s"),
          OwnTargetTier.NAME)),
  /** Memory is class 0, and flash class 1. */
  MEMORY_AND_FLASH(
      Place.HOST,
      false,
      null,
      Cluster.ofMore(
          64 << 20,
          Map.of(
              "crail.storage.types",
              "tcp," + OwnTargetTier.NAME,
              "crail.storage.nvmf.connecttimeout",
              "20s"),
          "tcp",
          OwnTargetTier.NAME)),
  /** The simulated tier in virtual time. */
  SIMULATED(Place.HOST, true, SimulatedBench::new, Cluster.NONE),
  /** The simulated tier on a real client loop. */
  SIMULATED_ON_NETTY(Place.HOST, true, SimulatedOnNettyBench::new, Cluster.NONE),
  /**
   * All over RDMA, to the second device of the test machine; with more space, for what was freed
   * rests.
   */
  RDMA(Place.MACHINE, false, RdmaBench::new, Cluster.ofTier(160 << 20, rdma("rdma"), "rdma")),
  /** RDMA that relies on acknowledgements, and registers all memory. */
  RDMA_ACKNOWLEDGED(Place.MACHINE, false, RdmaBench::acknowledged, Cluster.NONE),
  /** NVMe over TCP, to the kernel's target with blocks of 512 and of 4,096 bytes. */
  NVMF_KERNEL_TCP(
      Place.MACHINE,
      false,
      () -> new KernelTargetBench(NvmeTransport.TCP, TestInitiators.JAVA),
      Cluster.ofTierIfLong(
          160 << 20, kernelTarget(KernelTcpTargetTier.NAME), KernelTcpTargetTier.NAME)),
  /** NVMe over RDMA, to the same. */
  NVMF_KERNEL_RDMA(
      Place.MACHINE,
      false,
      () -> new KernelTargetBench(NvmeTransport.RDMA, TestInitiators.JAVA),
      Cluster.ofTierIfLong(160 << 20, kernelTarget(KernelTargetTier.NAME), KernelTargetTier.NAME)),
  /** As that, by SPDK; skipped where its library is not. */
  NVMF_KERNEL_SPDK(
      Place.MACHINE,
      false,
      () -> new KernelTargetBench(NvmeTransport.RDMA, TestInitiators.SPDK),
      Cluster.NONE),
  /** Metadata over RDMA; every other datanode of the only class is one over TCP. */
  MIXED(Place.MACHINE, false, null, Cluster.ofMore(160 << 20, rdma("rdma,tcp"), "rdma", "tcp"));

  /** Where a tier can be tested. */
  private enum Place {
    /** On any host. */
    HOST,
    /** In the test machine, or on a host with RDMA that stands for it. */
    MACHINE
  }

  /**
   * A cluster of a tier.
   *
   * @param isForAll whether every contract of clusters runs over it, and not only those that name
   *     it
   * @param datanodeBytes the space of each datanode
   * @param settings what servers and clients have to be told
   * @param types the types of the datanodes: each has the next one, in turn
   */
  private record Cluster(
      boolean isForAll, long datanodeBytes, Map<String, String> settings, List<String> types) {
    /** Of variants, over which no whole cluster runs. */
    static final Cluster NONE = null;

    static Cluster ofTier(long datanodeBytes, Map<String, String> settings, String... types) {
      return new Cluster(true, datanodeBytes, settings, List.of(types));
    }

    /** For every contract only where there is time for the long tests. */
    static Cluster ofTierIfLong(long datanodeBytes, Map<String, String> settings, String... types) {
      boolean isLong = Boolean.getBoolean("crail.test.long");
      return new Cluster(isLong, datanodeBytes, settings, List.of(types));
    }

    static Cluster ofMore(long datanodeBytes, Map<String, String> settings, String... types) {
      return new Cluster(false, datanodeBytes, settings, List.of(types));
    }
  }

  private static final Place HERE =
      Place.valueOf(System.getProperty("crail.test.place", "host").toUpperCase(Locale.ROOT));

  /** The tiers to which a JVM is limited; empty for all that are possible there. */
  private static final List<String> ONLY =
      Stream.of(System.getProperty("crail.test.tiers", "").split(","))
          .filter(name -> !name.isEmpty())
          .toList();

  private final Place place;
  private final boolean checksGeneration;
  private final Supplier<TierBench> bench;
  private final Cluster cluster;

  Tier(Place place, boolean checksGeneration, Supplier<TierBench> bench, Cluster cluster) {
    this.place = place;
    this.checksGeneration = checksGeneration;
    this.bench = bench;
    this.cluster = cluster;
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

  private static Map<String, String> kernelTarget(String type) {
    return Map.of(
        "crail.namenode.rpctype", "darpc",
        "crail.namenode.darpc.connecttimeout", "20s",
        "crail.storage.types", type,
        "crail.storage.nvmf.keepalive", KernelTarget.KEEP_ALIVE,
        "crail.storage.nvmf.connecttimeout", "20s");
  }

  /** Whether a contract runs over it where this JVM is. */
  boolean isFor(EachTier contract) {
    boolean isHere = place == HERE && (ONLY.isEmpty() || ONLY.contains(toString()));
    return isHere && (contract.alone() ? bench != null : cluster != null && takes(contract));
  }

  private boolean takes(EachTier contract) {
    boolean isNamed =
        List.of(contract.and()).contains(this) || List.of(contract.ifLong()).contains(this);
    return isNamed || cluster.isForAll() && !List.of(contract.not()).contains(this);
  }

  /** Skips what runs over it, with the reason, when something that it needs is not here. */
  void assumePresent() {
    if (this == NVMF_SPDK || this == NVMF_KERNEL_SPDK) {
      TestInitiators.assumePresent(TestInitiators.SPDK);
    }
  }

  /** What starts a datanode of it alone. */
  TierBench newBench() {
    return bench.get();
  }

  /** Space of each datanode of a cluster. */
  public long datanodeBytes() {
    return cluster.datanodeBytes();
  }

  /** The types of the datanodes of a cluster: each has the next one, in turn. */
  public List<String> types() {
    return cluster.types();
  }

  /** The name in the keys of a type of datanode. */
  public static String keysOf(String type) {
    boolean isFlash =
        List.of(OwnTargetTier.NAME, KernelTargetTier.NAME, KernelTcpTargetTier.NAME).contains(type);
    return isFlash ? NvmfStorageTier.NAME : type;
  }

  /** What servers and clients of a cluster have to be told. */
  public Map<String, String> settings() {
    return cluster.settings();
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

  /** Whether clients on the datanode's host may map its regions. */
  public boolean canBeMapped() {
    return switch (this) {
      case NVMF, NVMF_SPDK, MEMORY_AND_FLASH, NVMF_KERNEL_TCP, NVMF_KERNEL_RDMA -> false;
      default -> true;
    };
  }

  /** Whether seconds pass for what takes a moment elsewhere. */
  public boolean isSlow() {
    return place == Place.MACHINE;
  }

  /** How often a test repeats what it does at random: less where each time takes long. */
  public int rounds(int usual) {
    return isSlow() && !Boolean.getBoolean("crail.test.long") ? (usual + 3) / 4 : usual;
  }

  /** Whether datanodes refuse who comes late, so that space can be given out again at once. */
  public boolean checksGeneration() {
    return checksGeneration;
  }

  /** Most bytes that a call to a namenode allocates, at both ends. */
  public int bytesOfCall() {
    // Over TCP: Netty's entry for what is written, on each side.
    return settings().containsKey("crail.namenode.rpctype") ? 0 : 160;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
