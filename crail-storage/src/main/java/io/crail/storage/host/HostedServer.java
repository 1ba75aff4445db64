/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.Region;
import io.crail.protocol.secret.Secrets;
import io.crail.protocol.secret.SecurityKeys;
import io.crail.protocol.secret.TicketLogin;
import io.crail.rpc.login.Mechanisms;
import io.crail.storage.LastingBytes;
import io.crail.storage.LocalHost;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageServer;
import io.crail.storage.region.RegionPlan;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A tier's server that lends memory of its host. It has the order in which regions are planned,
 * made, served and closed. A tier says where they are and how they are served. Started and closed
 * by one thread.
 */
public abstract class HostedServer implements StorageServer {
  private final HostKeys keys;
  private final Configuration configuration;
  private UUID uuid;
  private Secrets secrets;
  private HostedRegions hosted;
  private boolean closed;

  /** Creates a server. It checks nothing before its start. */
  protected HostedServer(HostKeys keys, Configuration configuration) {
    this.keys = keys;
    this.configuration = configuration;
  }

  /**
   * Where the regions will lie.
   *
   * @throws IOException when that cannot be found out
   */
  protected abstract HostedRegions place() throws IOException;

  /**
   * Checks, before memory is taken, whether the regions can be served.
   *
   * @param address where to serve
   * @param lengths bytes of each region that will be made
   * @throws IOException when it cannot; says why
   */
  protected void prepare(InetSocketAddress address, List<Integer> lengths) throws IOException {}

  /**
   * Serves the regions, which exist by now, and calls their {@link HostedRegions#beat} from now on.
   */
  protected abstract void serve(InetSocketAddress address) throws IOException;

  /**
   * Ends what {@link #prepare} and {@link #serve} have begun, as far as they came, and all threads.
   * The regions are closed afterwards. Called once.
   */
  protected abstract void stop();

  /** The configuration. */
  protected final Configuration configuration() {
    return configuration;
  }

  /** The ways to log in over a network whose logins have several messages. From the start on. */
  public Mechanisms mechanisms() {
    return mechanisms(false);
  }

  /** The ways to log in where a login is one message, as on the host. From the start on. */
  protected final Mechanisms mechanismsOfOneMessage() {
    return mechanisms(true);
  }

  private Mechanisms mechanisms(boolean once) {
    return secrets == null
        ? Mechanisms.ANYBODY
        : new Mechanisms(
            List.of(
                new TicketLogin(
                    secrets,
                    LocalHost.hostName(),
                    uuid,
                    once,
                    configuration.get(SecurityKeys.TICKET_TIME).toNanos(),
                    Clock.SYSTEM)));
  }

  /** Identity of this datanode process, from the start on. */
  public final UUID uuid() {
    return uuid;
  }

  /** The regions, from {@link #serve} on. */
  public final HostedRegions hosted() {
    return hosted;
  }

  @Override
  public final void start(UUID newUuid) throws IOException {
    uuid = newUuid;
    boolean started = false;
    try {
      start();
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  /**
   * Starts.
   *
   * @throws ConfigException when the limit gives no regions
   */
  private void start() throws IOException {
    secrets = Secrets.of(configuration, Clock.SYSTEM);
    hosted = place();
    NamenodeAddresses namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    List<Integer> lengths =
        new RegionPlan(keys.storageLimit(), keys.allocationSize())
            .lengths(configuration, namenodes.size(), hosted.unit());
    InetSocketAddress address =
        new InetSocketAddress(
            LocalHost.address(configuration.get(keys.networkInterface()), namenodes.all()),
            configuration.get(keys.port()));
    prepare(address, lengths);
    LastingBytes.Owner keeper =
        configuration.get(StorageKeys.KEEP)
            ? new LastingBytes.Owner(
                configuration.get(ClusterKeys.CLUSTER_NAME),
                keys.tier(),
                configuration.get(keys.port()))
            : null;
    hosted.make(uuid, lengths, mechanismsOfOneMessage(), keeper);
    serve(address);
  }

  /**
   * {@inheritDoc} These need neither an address nor a key. A tier that needs them overrides this.
   */
  @Override
  public List<Region> regions() {
    return hosted.all().stream()
        .map(region -> new Region(region.index(), region.length(), 0, 0))
        .toList();
  }

  @Override
  public final Optional<LastingBytes> kept() {
    return hosted.kept();
  }

  @Override
  public final void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      stop();
    } finally {
      if (hosted != null) {
        hosted.close();
      }
    }
  }
}
