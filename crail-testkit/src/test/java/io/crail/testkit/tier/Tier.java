/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.nvmf.NvmeTransport;
import io.crail.rpc.netty.NettyKeys;
import io.crail.storage.StorageTier;
import io.crail.storage.nvmf.NvmfStorageTier;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.testkit.nvmf.KernelTarget;
import io.crail.testkit.nvmf.TestInitiators;
import io.crail.testkit.rdma.RdmaHost;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What contracts run over: each tier of the class path. A tier needs no entry here: it is started
 * as {@link StorageTier#sharedArguments} says, and its server says what it can do. A tier that can
 * be tested in several ways, or only in some place, has an entry for each of them.
 *
 * <p>JUnit selects classes by their tags, and a contract's class has the same tags for all its
 * tiers. So the tag "tiers" says that it is a contract, and the place where its JVM runs says which
 * tiers are there: Maven runs it on any host, and ci/rdma in the test machine, with {@code
 * -Dcrail.test.place=machine}. A contract that would only repeat in there what it shows on any host
 * has the tag "repeat".
 */
public final class Tier {
  /** All over the loopback interface. */
  public static final String TCP = "tcp";

  /** As TCP, with the datanodes' memory mapped, for contracts that distinguish the two. */
  public static final String MAPPED = "mapped";

  /** TCP over the JDK's selectors. */
  public static final String TCP_NIO = "tcp_nio";

  /** TCP over io_uring, where the kernel has it. */
  public static final String TCP_IO_URING = "tcp_io_uring";

  /** TCP with regions in the datanode's own memory. */
  public static final String TCP_ANONYMOUS = "tcp_anonymous";

  /** NVMe over TCP, to a target in this process with blocks of 512 bytes. */
  public static final String NVMF = "nvmf";

  /** The same with blocks of 4,096 bytes. */
  public static final String NVMF_4096 = "nvmf_4096";

  /** As NVMF, by SPDK; skipped where its library is not. */
  public static final String NVMF_SPDK = "nvmf_spdk";

  /** Memory is class 0, and flash class 1. */
  public static final String MEMORY_AND_FLASH = "memory_and_flash";

  /** The simulated tier in virtual time. */
  public static final String SIMULATED = "simulated";

  /** The simulated tier on a real client loop. */
  public static final String SIMULATED_ON_NETTY = "simulated_on_netty";

  /**
   * All over RDMA, to the second device of the test machine; with more space, for what was freed
   * rests.
   */
  public static final String RDMA = "rdma";

  /** RDMA that relies on acknowledgements, and registers all memory. */
  public static final String RDMA_ACKNOWLEDGED = "rdma_acknowledged";

  /** NVMe over TCP, to the kernel's target with blocks of 512 and of 4,096 bytes. */
  public static final String NVMF_KERNEL_TCP = "nvmf_kernel_tcp";

  /** NVMe over RDMA, to the same. */
  public static final String NVMF_KERNEL_RDMA = "nvmf_kernel_rdma";

  /** As that, by SPDK; skipped where its library is not. */
  public static final String NVMF_KERNEL_SPDK = "nvmf_kernel_spdk";

  /** Each tier of the class path that has no entry; only contracts name it. */
  public static final String FOUND = "found";

  /** Metadata over RDMA; every other datanode of the only class is one over TCP. */
  public static final String MIXED = "mixed";

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
   * @param settings what servers and clients have to set
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

  /** Tested by entries whose clusters have another type. */
  private static final Set<String> COVERED = Set.of(NvmfStorageTier.NAME);

  private static final Place HERE =
      Place.valueOf(System.getProperty("crail.test.place", "host").toUpperCase(Locale.ROOT));

  /** The tiers to which a JVM is limited; empty for all that are possible there. */
  private static final List<String> ONLY =
      Stream.of(System.getProperty("crail.test.tiers", "").split(","))
          .filter(name -> !name.isEmpty())
          .toList();

  private static final List<Tier> KNOWN =
      List.of(
          new Tier(
              TCP,
              Place.HOST,
              true,
              () -> new TcpBench(NettyKeys.Io.AUTO, TcpStorageKeys.Memory.FILE),
              Cluster.ofTier(64 << 20, Map.of(), "tcp")),
          new Tier(
              MAPPED,
              Place.HOST,
              true,
              MappedBench::new,
              Cluster.ofMore(64 << 20, Map.of(), "tcp")),
          new Tier(
              TCP_NIO,
              Place.HOST,
              true,
              () -> new TcpBench(NettyKeys.Io.NIO, TcpStorageKeys.Memory.FILE),
              Cluster.NONE),
          new Tier(
              TCP_IO_URING,
              Place.HOST,
              true,
              () -> new TcpBench(NettyKeys.Io.IO_URING, TcpStorageKeys.Memory.FILE),
              Cluster.NONE),
          new Tier(
              TCP_ANONYMOUS,
              Place.HOST,
              true,
              () -> new TcpBench(NettyKeys.Io.AUTO, TcpStorageKeys.Memory.ANONYMOUS),
              Cluster.NONE),
          new Tier(
              NVMF,
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
          new Tier(
              NVMF_4096,
              Place.HOST,
              false,
              () -> new NvmfBench(4096, TestInitiators.JAVA),
              Cluster.NONE),
          new Tier(
              NVMF_SPDK,
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
          new Tier(
              MEMORY_AND_FLASH,
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
          new Tier(SIMULATED, Place.HOST, true, SimulatedBench::new, Cluster.NONE),
          new Tier(SIMULATED_ON_NETTY, Place.HOST, true, SimulatedOnNettyBench::new, Cluster.NONE),
          new Tier(
              RDMA,
              Place.MACHINE,
              false,
              RdmaBench::new,
              Cluster.ofTier(160 << 20, rdma("rdma"), "rdma")),
          new Tier(RDMA_ACKNOWLEDGED, Place.MACHINE, false, RdmaBench::acknowledged, Cluster.NONE),
          new Tier(
              NVMF_KERNEL_TCP,
              Place.MACHINE,
              false,
              () -> new KernelTargetBench(NvmeTransport.TCP, TestInitiators.JAVA),
              Cluster.ofTierIfLong(
                  160 << 20, kernelTarget(KernelTcpTargetTier.NAME), KernelTcpTargetTier.NAME)),
          new Tier(
              NVMF_KERNEL_RDMA,
              Place.MACHINE,
              false,
              () -> new KernelTargetBench(NvmeTransport.RDMA, TestInitiators.JAVA),
              Cluster.ofTierIfLong(
                  160 << 20, kernelTarget(KernelTargetTier.NAME), KernelTargetTier.NAME)),
          new Tier(
              NVMF_KERNEL_SPDK,
              Place.MACHINE,
              false,
              () -> new KernelTargetBench(NvmeTransport.RDMA, TestInitiators.SPDK),
              Cluster.NONE),
          new Tier(
              MIXED,
              Place.MACHINE,
              false,
              null,
              Cluster.ofMore(160 << 20, rdma("rdma,tcp"), "rdma", "tcp")));

  private static final List<Tier> ALL = all();

  private final String name;
  private final Place place;
  private final boolean checksGeneration;
  private final Supplier<TierBench> bench;
  private final Cluster cluster;

  private Tier(
      String name,
      Place place,
      boolean checksGeneration,
      Supplier<TierBench> bench,
      Cluster cluster) {
    this.name = name;
    this.place = place;
    this.checksGeneration = checksGeneration;
    this.bench = bench;
    this.cluster = cluster;
  }

  /** Those that are known, and the tiers of the class path that none of them is about. */
  private static List<Tier> all() {
    Set<String> covered = new HashSet<>(COVERED);
    for (Tier tier : KNOWN) {
      if (tier.cluster != null) {
        covered.addAll(tier.types());
      }
    }
    List<Tier> tiers = new ArrayList<>(KNOWN);
    for (StorageTier found : StorageTier.all()) {
      if (!covered.contains(found.name())) {
        Map<String, String> settings = Map.of("crail.storage.types", found.name());
        tiers.add(
            new Tier(
                found.name(),
                Place.HOST,
                false,
                () -> new FoundBench(found),
                Cluster.ofTierIfLong(160 << 20, settings, found.name())));
      }
    }
    return List.copyOf(tiers);
  }

  /** All of them. */
  static List<Tier> values() {
    return ALL;
  }

  /** The one of a name. */
  public static Tier of(String name) {
    return ALL.stream().filter(tier -> tier.is(name)).findAny().orElseThrow();
  }

  /** Whether this is its name. */
  public boolean is(String other) {
    return name.equals(other);
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
    boolean isNamed = isAmong(contract.and()) || isAmong(contract.ifLong());
    return isNamed || cluster.isForAll() && !isAmong(contract.not());
  }

  private boolean isAmong(String[] names) {
    List<String> all = List.of(names);
    return all.contains(name) || isFound() && all.contains(FOUND);
  }

  /** Whether it has no entry. */
  private boolean isFound() {
    return !KNOWN.contains(this);
  }

  /** Skips what runs over it, with the reason, when something that it needs is not here. */
  void assumePresent() {
    if (is(NVMF_SPDK) || is(NVMF_KERNEL_SPDK)) {
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

  /** What servers and clients of a cluster have to set. */
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
    return is(MAPPED);
  }

  /** Whether clients on the datanode's host are known to map its regions if they may. */
  public boolean canBeMapped() {
    return switch (name) {
      case NVMF, NVMF_SPDK, MEMORY_AND_FLASH, NVMF_KERNEL_TCP, NVMF_KERNEL_RDMA -> false;
      default -> !isFound();
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

  /** Whether datanodes are known to refuse late writers, so freed space is given out at once. */
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
    return name;
  }
}
