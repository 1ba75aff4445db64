/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.common.config.Configuration;
import io.crail.common.config.Secret;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.Nqn;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.auth.ChapSecret;
import io.crail.nvmf.auth.HostSecrets;
import io.crail.storage.LocalHost;
import io.crail.storage.TierArguments;
import io.crail.storage.TierArguments.Argument;
import io.crail.storage.host.TierKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** The keys of the NVMf tier. */
public final class NvmfStorageKeys implements ConfigKeys {
  /** The short name of the tier. */
  static final String TIER = "nvmf";

  /** The targets of a datanode. */
  public static final ConfigKey<List<String>> TARGETS =
      ConfigKey.of(
              "crail.storage.nvmf.targets",
              ConfigType.LIST,
              "",
              "Subsystems whose namespaces a datanode lends: host:port/nqn, or host:port/nqn#1+2 with"
                  + " the numbers of namespaces, after rdma:// for NVMe/RDMA, separated by commas. A"
                  + " namespace belongs to one datanode, which overwrites it. The name"
                  + " nqn.2014-08.org.nvmexpress.discovery (port 8009 unless set) stands for all"
                  + " subsystems that the discovery service there knows when the datanode starts.")
          .check(NvmfStorageKeys::problem);

  /** Which initiators are used. */
  public static final ConfigKey<String> INITIATOR =
      ConfigKey.of(
          "crail.storage.nvmf.initiator",
          ConfigType.STRING,
          InitiatorProvider.JAVA,
          "The initiator of NVMe over Fabrics, on datanodes and clients: java, which needs nothing"
              + " else; or spdk, which needs its native library and a processor that polls while"
              + " requests are in flight.");

  /** The name by which targets know this host. */
  public static final ConfigKey<String> HOST_NQN =
      ConfigKey.of(
          "crail.storage.nvmf.hostnqn",
          ConfigType.STRING,
          "",
          "Name by which targets know this host, on datanodes and clients; empty: the one in"
              + " /etc/nvme/hostnqn, with the id in /etc/nvme/hostid if there is one, or else one"
              + " made from the host's name.");

  /** By which this host proves who it is. */
  public static final ConfigKey<Secret> SECRET =
      ConfigKey.of(
              "crail.storage.nvmf.secret",
              ConfigType.SECRET,
              "",
              "Secret by which this host proves to targets who it is, if they ask for that"
                  + " (DH-HMAC-CHAP), on datanodes and clients, each its own: DHHC-1:..., as nvme"
                  + " gen-dhchap-key writes it, or file:/path of a file with it.")
          .check(NvmfStorageKeys::problem);

  /** By which targets have to prove who they are. */
  public static final ConfigKey<Secret> CONTROLLER_SECRET =
      ConfigKey.of(
              "crail.storage.nvmf.controllersecret",
              ConfigType.SECRET,
              "",
              "Secret by which targets have to prove to this host who they are, in the form of"
                  + " crail.storage.nvmf.secret, which must be set too; empty: they do not have"
                  + " to.")
          .check(NvmfStorageKeys::problem);

  /** Whether foreign data may be overwritten. */
  public static final ConfigKey<Boolean> OVERWRITE =
      ConfigKey.of(
          "crail.storage.nvmf.overwrite",
          ConfigType.BOOLEAN,
          "false",
          "Whether a datanode takes a namespace whose first MiB holds data that are not Crail's.");

  /** What a datanode lends. */
  public static final ConfigKey<Long> STORAGE_LIMIT =
      TierKeys.storageLimit(
          TIER,
          "1024t",
          "The most bytes of its namespaces that a datanode lends; all that it has unless set.");

  /** The size of a region. */
  public static final ConfigKey<Long> ALLOCATION_SIZE =
      TierKeys.allocationSize(TIER, "Bytes of a region, the unit in which namespaces are lent.");

  /** The most commands in flight. */
  public static final ConfigKey<Integer> QUEUE_DEPTH = TierKeys.queueDepth(TIER);

  /** The deadline of a connection attempt. */
  public static final ConfigKey<Duration> CONNECT_TIMEOUT =
      TierKeys.connectTimeout(
          TIER,
          "Deadline of each step of connecting to a target. There are seven at most: the"
              + " connection, an authentication, the start of the controller, and so on. A"
              + " controller that asks for a longer start has the time for it. Clients and"
              + " datanodes, also one that starts, try again if it was too short.");

  /** How long a target keeps a controller without a sign of its host. */
  public static final ConfigKey<Duration> KEEP_ALIVE =
      ConfigKey.of(
              "crail.storage.nvmf.keepalive",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "5s",
              "How long a target keeps a connection of this datanode or of its clients without a"
                  + " sign of its host. A host that gets no answer to its sign for half of that"
                  + " time takes the target for lost. Some targets count it in steps of 10s, and"
                  + " are refused with another time.")
          .between(Duration.ofSeconds(4), Duration.ofMinutes(10));

  /** Whether headers have a checksum. */
  public static final ConfigKey<Boolean> HEADER_DIGEST =
      ConfigKey.of(
          "crail.storage.nvmf.headerdigest",
          ConfigType.BOOLEAN,
          "false",
          "Whether headers over TCP between the targets of this datanode and their hosts have a"
              + " checksum.");

  /** Whether data have a checksum. */
  public static final ConfigKey<Boolean> DATA_DIGEST =
      ConfigKey.of(
          "crail.storage.nvmf.datadigest",
          ConfigType.BOOLEAN,
          "false",
          "Whether data over TCP between the targets of this datanode and their hosts have a"
              + " checksum.");

  /** The arguments of a datanode that stand for keys. */
  static final TierArguments ARGUMENTS =
      new TierArguments(
          TIER,
          List.of(
              new Argument("-t", "targets", TARGETS, "what it lends, as host:port/nqn#namespaces"),
              new Argument(
                  "-s", "bytes", STORAGE_LIMIT, "how much of that; all of it unless given"),
              new Argument("-q", "nqn", HOST_NQN, "the name by which the targets know this host")));

  /** Where nvme-cli has the name and the id of this host. */
  private static final Path USUAL = Path.of("/etc/nvme");

  /** Creates the keys; for {@link java.util.ServiceLoader}. */
  public NvmfStorageKeys() {}

  private static String problem(Secret secret) {
    // A file is opened by who needs it.
    return secret.isEmpty() || secret.isInFile() ? null : ChapSecret.problem(secret.read());
  }

  private static String problem(List<String> targets) {
    try {
      targets.forEach(TargetAddress::parse);
      return null;
    } catch (ConfigException e) {
      return e.getMessage();
    }
  }

  /**
   * Who this host is to targets; the same at each start.
   *
   * @throws ConfigException for a name or a secret that cannot be used, also those in files
   */
  static NvmeHost host(Configuration configuration) {
    return host(configuration, USUAL);
  }

  /**
   * As {@link #host(Configuration)}.
   *
   * @param directory where the files with the usual name and id of this host are, if there are any
   */
  static NvmeHost host(Configuration configuration, Path directory) {
    Path usual = directory.resolve("hostnqn");
    String origin = "key '" + HOST_NQN.name() + "'";
    String name = configuration.get(HOST_NQN);
    if (name.isEmpty()) {
      origin = usual.toString();
      name = text(usual);
    }
    if (name.isEmpty()) {
      origin = "the name of this host";
      name = "nqn.2026-11.io.crail:" + LocalHost.hostName();
    }
    String problem = Nqn.problem(name);
    if (problem != null) {
      throw new ConfigException(origin + " " + problem);
    }
    NvmeHost host = NvmeHost.named(name);
    // With another name it would be one id with two names, which targets refuse.
    boolean isUsual = isReadable(usual) && name.equals(text(usual));
    UUID id = isUsual ? id(directory.resolve("hostid"), host.id()) : host.id();
    return new NvmeHost(name, id, secrets(configuration));
  }

  private static UUID id(Path file, UUID otherwise) {
    String text = text(file);
    try {
      return text.isEmpty() ? otherwise : UUID.fromString(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(file + " has '" + text + "', which is no UUID", e);
    }
  }

  private static boolean isReadable(Path file) {
    return Files.isRegularFile(file) && Files.isReadable(file);
  }

  /** What is in a file; empty when there is none. */
  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new ConfigException(file + " cannot be read: " + e, e);
    }
  }

  private static HostSecrets secrets(Configuration configuration) {
    ChapSecret own = secret(configuration, SECRET);
    ChapSecret controllers = secret(configuration, CONTROLLER_SECRET);
    if (own == null && controllers != null) {
      // A target proves itself only to a host that does so too.
      throw new ConfigException(
          "key '" + CONTROLLER_SECRET.name() + "' is set without '" + SECRET.name() + "'");
    }
    return new HostSecrets(own, controllers);
  }

  private static ChapSecret secret(Configuration configuration, ConfigKey<Secret> key) {
    Secret secret = configuration.get(key);
    try {
      return secret.isEmpty() ? null : ChapSecret.parse(secret.read());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          "key '" + key.name() + "' has the bad value '" + secret + "': " + e.getMessage(), e);
    }
  }

  static Digests digests(Configuration configuration) {
    return new Digests(configuration.get(HEADER_DIGEST), configuration.get(DATA_DIGEST));
  }

  static ControllerLimits limits(Configuration configuration) {
    return new ControllerLimits(
        configuration.get(QUEUE_DEPTH),
        configuration.get(KEEP_ALIVE),
        configuration.get(CONNECT_TIMEOUT).toNanos());
  }

  @Override
  public String title() {
    return "NVMf tier";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        TARGETS,
        INITIATOR,
        HOST_NQN,
        SECRET,
        CONTROLLER_SECRET,
        OVERWRITE,
        STORAGE_LIMIT,
        ALLOCATION_SIZE,
        QUEUE_DEPTH,
        CONNECT_TIMEOUT,
        KEEP_ALIVE,
        HEADER_DIGEST,
        DATA_DIGEST);
  }
}
