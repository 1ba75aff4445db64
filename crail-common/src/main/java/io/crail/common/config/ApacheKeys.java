/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What became of each key of Apache Crail 1.2. A site file that was written for it can be used: a
 * key sets the key of the same meaning here, or has no effect and says why, or is refused where to
 * ignore it would change what the user gets. The table in {@code docs/porting-keys.md} is generated
 * from this one.
 */
public final class ApacheKeys {
  private static final String NO_ELASTICITY =
      "Crail starts and stops no datanodes by itself: see 'crail datanode' and 'crail"
          + " removeDatanode'";
  private static final String STARTS_EMPTY =
      "Crail keeps no data over a restart: namenodes and datanodes start empty";
  private static final String TARGETS =
      "crail.storage.nvmf.targets=host:port/nqn, or host:port/nqn#namespace, takes its place";

  private static final String DARPC = "crail.namenode.darpc.";
  private static final String WITH_DARPC = "; only with crail.namenode.rpctype=darpc";

  /** What happens to a value that a key has no word for. */
  public enum Others {
    /** It is taken as it is, if the key has a place here. */
    KEPT,
    /** It is an error. */
    REFUSED
  }

  /** All of them: first those that mean the same here. */
  public static final List<ApacheKey> ALL =
      Stream.concat(
              same().map(name -> new ApacheKey(name, name, Map.of(), Others.KEPT, "")), others())
          .toList();

  private static final Map<String, ApacheKey> BY_NAME =
      ALL.stream().collect(Collectors.toUnmodifiableMap(ApacheKey::name, Function.identity()));

  private ApacheKeys() {}

  /**
   * One key of Apache Crail.
   *
   * @param name its name, in lower case
   * @param key the key that takes its value here; empty when no key does
   * @param words from values there, in lower case and for classes without their package, to values
   *     here; an empty word means that the value has no effect
   * @param others what happens to other values
   * @param now what became of it, for users; empty when it means the same
   */
  public record ApacheKey(
      String name, String key, Map<String, String> words, Others others, String now) {
    /** Whether the key concerns metadata over RDMA only, although the key here concerns all. */
    boolean isForDarpcOnly() {
      return name.startsWith(DARPC) && !name.equals(key);
    }

    /** Whether the key is refused with this value. */
    boolean refuses(String text) {
      return others == Others.REFUSED && !words.containsKey(word(text));
    }

    /** The value here; null when the key has no effect with this value. */
    String translate(String text) {
      if (key.isEmpty()) {
        return null;
      }
      String[] parts = text.split(",", -1);
      if (Arrays.stream(parts).noneMatch(part -> words.containsKey(word(part)))) {
        return text;
      }
      String here =
          Arrays.stream(parts)
              .map(part -> words.getOrDefault(word(part), part.strip()))
              .collect(Collectors.joining(","));
      return here.isEmpty() ? null : here;
    }

    private static String word(String text) {
      return text.strip().substring(text.strip().lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Finds a key.
   *
   * @param name its name, in lower case
   * @return the key; null when Apache Crail has no such key
   */
  static ApacheKey find(String name) {
    return BY_NAME.get(name);
  }

  private static Stream<String> same() {
    return Stream.of(
        "crail.blocksize",
        "crail.buffersize",
        "crail.datatimeout",
        "crail.directoryrandomize",
        "crail.locationmap",
        "crail.namenode.address",
        "crail.namenode.blockselection",
        "crail.namenode.darpc.affinity",
        "crail.namenode.darpc.backlog",
        "crail.namenode.darpc.clustersize",
        "crail.namenode.darpc.connecttimeout",
        "crail.namenode.darpc.maxinline",
        "crail.namenode.darpc.pollsize",
        "crail.namenode.darpc.recvqueue",
        "crail.namenode.darpc.sendqueue",
        "crail.namenode.tcp.cores",
        "crail.rpctimeout",
        "crail.shadowreplication",
        "crail.singleton",
        "crail.slicesize",
        "crail.statistics",
        "crail.storage.classes",
        "crail.storage.keepalive",
        "crail.storage.nvmf.allocationsize",
        "crail.storage.nvmf.hostnqn",
        "crail.storage.rdma.allocationsize",
        "crail.storage.rdma.connecttimeout",
        "crail.storage.rdma.datapath",
        "crail.storage.rdma.interface",
        "crail.storage.rdma.port",
        "crail.storage.rdma.storagelimit",
        "crail.storage.rootclass",
        "crail.storage.tcp.allocationsize",
        "crail.storage.tcp.cores",
        "crail.storage.tcp.datapath",
        "crail.storage.tcp.interface",
        "crail.storage.tcp.port",
        "crail.storage.tcp.queuedepth",
        "crail.storage.tcp.storagelimit",
        "crail.user");
  }

  private static Stream<ApacheKey> others() {
    return Stream.of(
        new ApacheKey(
            "crail.cachelimit",
            "crail.cachelimit",
            Map.of("0", ""),
            Others.KEPT,
            "0, which means buffers without a limit there, leaves the default"),
        new ApacheKey(
            "crail.namenode.rpctype",
            "crail.namenode.rpctype",
            Map.of("tcpnamenode", "tcp", "darpcnamenode", "darpc"),
            Others.KEPT,
            "the classes TcpNameNode and DaRPCNameNode stand for tcp and darpc"),
        new ApacheKey(
            "crail.storage.types",
            "crail.storage.types",
            Map.of("tcpstoragetier", "tcp", "rdmastoragetier", "rdma", "nvmfstoragetier", "nvmf"),
            Others.KEPT,
            "the classes TcpStorageTier, RdmaStorageTier and NvmfStorageTier stand for tcp, rdma"
                + " and nvmf"),
        moved("crail.tokenexpiration", "crail.lease", "how long a write lease and a location last"),
        moved("crail.storage.rdma.queuesize", "crail.storage.rdma.queuedepth", "the same"),
        moved("crail.storage.nvmf.queuesize", "crail.storage.nvmf.queuedepth", "the same"),
        moved("crail.storage.rdma.localmap", "crail.storage.localmap", "the same, for all tiers"),
        new ApacheKey(
            "crail.namenode.darpc.polling",
            "crail.spintime",
            Map.of("true", "always", "false", "0"),
            Others.REFUSED,
            "true stands for always, false for 0" + WITH_DARPC),
        new ApacheKey(
            "crail.namenode.darpc.type",
            "crail.client.driver",
            Map.of("passive", "waiter", "active", "thread"),
            Others.REFUSED,
            "passive stands for waiter, active for thread" + WITH_DARPC),
        ignored("crail.version", "a peer of another version is refused at the first exchange"),
        ignored("crail.directorydepth", "a path may have any depth within 1024 bytes"),
        ignored("crail.directoryrecord", "namenodes keep the names, so there are no records"),
        ignored("crail.namenode.fileblocks", "lists of extents grow as they need to"),
        ignored("crail.cachepath", "buffers are direct memory of the process"),
        ignored("crail.cacheimpl", "there is one pool of buffers, bounded by crail.cachelimit"),
        ignored(
            "crail.regionsize",
            "buffers are made when they are needed; datanodes have"
                + " crail.storage.tcp.allocationsize and its like"),
        ignored("crail.debug", "set the level of the logger io.crail"),
        ignored("crail.namenode.tcp.queuedepth", "crail.client.outstanding bounds a client"),
        ignored("crail.namenode.tcp.messagesize", "messages have the length that they need"),
        ignored("crail.storage.rdma.type", "crail.client.driver says who waits, for all tiers"),
        ignored("crail.storage.rdma.backlog", "there is no bound to set"),
        ignored("crail.storage.nvmf.stagingcachesize", "sectors are staged with each transfer"),
        ignored("crail.elasticstore.scaleup", NO_ELASTICITY),
        ignored("crail.elasticstore.scaledown", NO_ELASTICITY),
        ignored("crail.elasticstore.minnodes", NO_ELASTICITY),
        ignored("crail.elasticstore.maxnodes", NO_ELASTICITY),
        ignored("crail.elasticstore.policyrunner.interval", NO_ELASTICITY),
        ignored("crail.elasticstore.logging", NO_ELASTICITY),
        refused("crail.namenode.rpcservice", "namenodeservice", NO_ELASTICITY),
        refused("crail.namenode.log", "", STARTS_EMPTY),
        refused("crail.storage.rdma.persistent", "false", STARTS_EMPTY),
        refused("crail.storage.nvmf.ip", TARGETS),
        refused("crail.storage.nvmf.port", TARGETS),
        refused("crail.storage.nvmf.nqn", TARGETS),
        refused("crail.storage.nvmf.namespace", TARGETS));
  }

  private static ApacheKey moved(String name, String key, String now) {
    return new ApacheKey(name, key, Map.of(), Others.KEPT, now);
  }

  private static ApacheKey ignored(String name, String now) {
    return new ApacheKey(name, "", Map.of(), Others.KEPT, now);
  }

  private static ApacheKey refused(String name, String now) {
    return new ApacheKey(name, "", Map.of(), Others.REFUSED, now);
  }

  /** Refused, except with the value that says what Crail does anyway. */
  private static ApacheKey refused(String name, String harmless, String now) {
    return new ApacheKey(name, "", Map.of(harmless, ""), Others.REFUSED, now);
  }
}
