/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import io.crail.storage.daemon.Datanode;
import io.crail.storage.tcp.TcpStorageKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Namenodes and datanodes inside this process, on the loopback interface and on free ports. Clients
 * in this process and in other processes of this host can use them:
 *
 * <pre>{@code
 * try (EmbeddedCrail crail = EmbeddedCrail.builder().datanodes(2).start();
 *     CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
 *   ...
 * }
 * }</pre>
 *
 * Several clusters may run at the same time. {@link #close()} ends all threads and removes all
 * files. Thread-safe.
 */
public final class EmbeddedCrail implements AutoCloseable {
  /**
   * A system property with settings for all embedded clusters of a JVM: {@code key=value},
   * separated by blanks. A setting made with a builder has precedence. So a whole test suite can
   * run with another setting, for example {@code
   * -Dcrail.embedded.settings=crail.storage.localmap=false}.
   */
  public static final String SETTINGS_PROPERTY = "crail.embedded.settings";

  private static final long START_TIMEOUT_NANOS = 30_000_000_000L;

  private final Builder plan;
  private final Transport transport;
  private final List<NameNodeServer> namenodes = new ArrayList<>();
  private final List<Datanode> datanodes = new ArrayList<>();
  private Configuration configuration;
  private boolean closed;

  private EmbeddedCrail(Builder plan) {
    this.plan = plan;
    this.configuration = plan.configuration();
    this.transport = TransportProvider.open(configuration);
  }

  /** {@return a builder for a cluster of one namenode and one datanode} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return the configuration for clients, with the addresses of the namenodes} */
  public synchronized Configuration configuration() {
    return configuration;
  }

  /** The directory of the region files. */
  Path place() {
    return plan.dataPath;
  }

  /** {@return the addresses of the namenodes, in their order} */
  public synchronized List<InetSocketAddress> namenodeAddresses() {
    return configuration.get(ClusterKeys.NAMENODE_ADDRESS).all();
  }

  /** {@return the number of datanodes that were started} */
  public synchronized int datanodeCount() {
    return datanodes.size();
  }

  /**
   * Ends a datanode as an orderly shutdown of its host does. Its data are gone.
   *
   * @param index from 0, in the order in which the datanodes were started
   */
  public synchronized void stopDatanode(int index) {
    datanodes.get(index).close();
  }

  /**
   * Starts one more datanode with the settings of the cluster, and waits until it is registered.
   *
   * @param storageClass the class that the datanode serves
   * @return the index of the datanode
   * @throws IOException when it cannot start or register
   */
  public synchronized int startDatanode(int storageClass) throws IOException {
    Datanode datanode = start(tierOf(storageClass), storageClass);
    awaitRegistered(datanode);
    return datanodes.size() - 1;
  }

  /**
   * Ends a namenode and starts an empty namenode at its address. The datanodes register again by
   * themselves. Nodes and data are gone.
   *
   * @param index of the namenode, from 0
   * @throws IOException when it cannot start
   */
  public synchronized void restartNamenode(int index) throws IOException {
    NameNodeServer old = namenodes.get(index);
    InetSocketAddress address = old.address();
    old.close();
    NameNodeServer started = startNamenode(index, address);
    namenodes.set(index, started);
    started.meet(configuration.get(ClusterKeys.NAMENODE_ADDRESS));
  }

  private void start() throws IOException {
    InetAddress host =
        plan.host == null ? InetAddress.getLoopbackAddress() : InetAddress.getByName(plan.host);
    StringBuilder addresses = new StringBuilder();
    for (int index = 0; index < plan.namenodes; index++) {
      NameNodeServer namenode = startNamenode(index, new InetSocketAddress(host, 0));
      namenodes.add(namenode);
      addresses
          .append(index == 0 ? "" : ",")
          .append("crail://")
          .append(Addresses.numeric(namenode.address()));
    }
    configuration =
        configuration.toBuilder()
            .set(ClusterKeys.NAMENODE_ADDRESS.name(), addresses.toString(), "the embedded cluster")
            .build();
    for (NameNodeServer namenode : namenodes) {
      namenode.meet(configuration.get(ClusterKeys.NAMENODE_ADDRESS));
    }
    for (int i = 0; i < plan.storageClasses.length; i++) {
      int storageClass = plan.storageClasses[i];
      StorageTier tier =
          plan.tiers.length == 0 ? tierOf(storageClass) : StorageTier.find(plan.tiers[i]);
      start(tier, storageClass);
    }
    for (Datanode datanode : datanodes) {
      awaitRegistered(datanode);
    }
  }

  private Datanode start(StorageTier tier, int storageClass) throws IOException {
    List<String> arguments = tier.sharedArguments(plan.dataPath, plan.storageBytes);
    Datanode datanode = Datanode.start(configuration, tier, storageClass, arguments, transport);
    datanodes.add(datanode);
    return datanode;
  }

  /**
   * Returns the configured tier at the index of the class, or the first tier for a class without
   * one.
   */
  private StorageTier tierOf(int storageClass) {
    List<String> names = configuration.get(StorageKeys.TYPES);
    return StorageTier.find(names.get(storageClass < names.size() ? storageClass : 0));
  }

  private NameNodeServer startNamenode(int index, InetSocketAddress address) throws IOException {
    return NameNodeServer.start(
        configuration, index, plan.namenodes, address, transport, Clock.SYSTEM);
  }

  private static void awaitRegistered(Datanode datanode) throws IOException {
    try {
      if (!datanode.awaitRegistered(START_TIMEOUT_NANOS)) {
        throw ErrorCode.TIMED_OUT.exception("registration of an embedded datanode");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw ErrorCode.CLOSED.exception("interrupted while an embedded datanode registered");
    }
  }

  /** Ends all servers and removes all files. Close the stores of this cluster before. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    List<Runnable> ends = new ArrayList<>();
    datanodes.forEach(datanode -> ends.add(datanode::close));
    namenodes.forEach(namenode -> ends.add(namenode::close));
    ends.add(transport::close);
    ends.add(plan::removePlace);
    runAll(ends);
  }

  /** Runs all actions. Throws the first failure; the later ones are suppressed in it. */
  static void runAll(List<Runnable> ends) {
    RuntimeException failure = null;
    for (Runnable end : ends) {
      try {
        end.run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Describes a cluster. Not thread-safe. */
  public static final class Builder {
    private final Configuration.Builder settings = Configuration.builder();
    private int namenodes = 1;
    private int[] storageClasses = {0};
    private String[] tiers = {};
    private long storageBytes = -1;
    private Path dataPath;
    private String host;
    private boolean ownPlace;

    private Builder() {
      String given = System.getProperty(SETTINGS_PROPERTY, "").strip();
      for (String setting : given.isEmpty() ? new String[0] : given.split("\\s+")) {
        int equals = setting.indexOf('=');
        if (equals < 1) {
          throw new IllegalArgumentException(
              "-D" + SETTINGS_PROPERTY + ": '" + setting + "' is no key=value");
        }
        settings.set(
            setting.substring(0, equals), setting.substring(equals + 1), "-D" + SETTINGS_PROPERTY);
      }
    }

    /**
     * Sets the number of namenodes. The default is 1.
     *
     * @param count the number
     * @return this
     */
    public Builder namenodes(int count) {
      if (count < 1) {
        throw new IllegalArgumentException("a cluster needs a namenode");
      }
      namenodes = count;
      return this;
    }

    /**
     * Sets the address on which the namenodes serve. The default is the loopback address.
     *
     * @param address a name or an address of this host
     * @return this
     */
    public Builder host(String address) {
      host = Objects.requireNonNull(address, "address");
      return this;
    }

    /**
     * Sets the number of datanodes, all of storage class 0. The default is 1.
     *
     * @param count the number
     * @return this
     */
    public Builder datanodes(int count) {
      if (count < 0) {
        throw new IllegalArgumentException("number of datanodes: " + count);
      }
      storageClasses = new int[count];
      tiers = new String[0];
      return this;
    }

    /**
     * Sets the storage class of each datanode, and with it their number. The tier of a datanode is
     * the one at the index of its class in {@code crail.storage.types}, or else the first tier.
     *
     * @param classes one class for each datanode
     * @return this
     */
    public Builder storageClasses(int... classes) {
      storageClasses = classes.clone();
      tiers = new String[0];
      return this;
    }

    /**
     * Sets the tier of each datanode by name, and with it their number. All are of storage class 0.
     *
     * @param names one tier for each datanode
     * @return this
     */
    public Builder tiers(String... names) {
      tiers = names.clone();
      storageClasses = new int[names.length];
      return this;
    }

    /**
     * Sets how much each datanode lends. If neither this nor its key is set, all datanodes together
     * lend three quarters of the free space, at most 8 GiB. Memory is allocated at first use.
     *
     * @param bytesPerDatanode bytes
     * @return this
     */
    public Builder storage(long bytesPerDatanode) {
      if (bytesPerDatanode < 1) {
        throw new IllegalArgumentException("bytes per datanode: " + bytesPerDatanode);
      }
      storageBytes = bytesPerDatanode;
      return this;
    }

    /**
     * Sets the directory for region files. If neither this nor its key is set, it is a directory in
     * memory, or on disk when memory is short and the disk has more room.
     *
     * @param directory the directory
     * @return this
     */
    public Builder dataPath(Path directory) {
      dataPath = Objects.requireNonNull(directory, "directory");
      return this;
    }

    /**
     * Sets whether clients map the regions. Without a mapping they use the network, although they
     * are on this host.
     *
     * @param mapped true to map
     * @return this
     */
    public Builder mapped(boolean mapped) {
      return set(StorageKeys.LOCAL_MAP, mapped);
    }

    /**
     * Sets a configuration value for servers and clients.
     *
     * @param key the key
     * @param value the value
     * @return this
     */
    public Builder set(ConfigKey<?> key, Object value) {
      settings.set(key, value);
      return this;
    }

    /**
     * Sets a configuration value for servers and clients, as a user writes it.
     *
     * @param key the full name of the key
     * @param text the value
     * @return this
     */
    public Builder set(String key, String text) {
      settings.set(key, text, "the program");
      return this;
    }

    /**
     * Takes over all values that are set in {@code base}.
     *
     * @param base the other configuration
     * @return this
     */
    public Builder configuration(Configuration base) {
      base.texts().forEach((key, text) -> settings.set(key, text, "a copied configuration"));
      return this;
    }

    /**
     * Starts the cluster, and waits until all datanodes are registered.
     *
     * @return the cluster
     * @throws IOException when a part cannot start; the parts that have started are ended then
     */
    public EmbeddedCrail start() throws IOException {
      Configuration given = configuration();
      if (dataPath == null && given.isSet(TcpStorageKeys.DATA_PATH)) {
        dataPath = Path.of(given.get(TcpStorageKeys.DATA_PATH));
      }
      if (storageBytes < 0 && given.isSet(TcpStorageKeys.STORAGE_LIMIT)) {
        storageBytes = given.get(TcpStorageKeys.STORAGE_LIMIT);
      }
      if (dataPath == null || storageBytes < 0) {
        StoragePlace place = StoragePlace.choose(dataPath);
        ownPlace |= dataPath == null;
        dataPath = place.directory();
        if (storageBytes < 0) {
          storageBytes = place.bytes() / Math.max(1, storageClasses.length);
        }
      }
      EmbeddedCrail crail = new EmbeddedCrail(this);
      boolean started = false;
      try {
        crail.start();
        started = true;
        return crail;
      } finally {
        if (!started) {
          crail.close();
        }
      }
    }

    /** Removes the directory that was chosen here, unless a cluster still uses it. */
    private void removePlace() {
      if (ownPlace) {
        StoragePlace.remove(dataPath);
      }
    }

    private Configuration configuration() {
      return settings.build();
    }

    @Override
    public String toString() {
      return namenodes + " namenodes, datanodes of classes " + Arrays.toString(storageClasses);
    }
  }
}
