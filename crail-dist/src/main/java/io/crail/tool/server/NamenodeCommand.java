/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.server;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.ha.ReplicatedNamenode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.secret.Secrets;
import io.crail.protocol.secret.SecurityKeys;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.ThreadDeaths;
import io.crail.tool.command.UsageException;
import io.crail.tool.metrics.HttpPort;
import io.crail.tool.metrics.MetricsServer;
import io.crail.tool.page.ClusterPage;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.apache.commons.cli.CommandLine;

/** Runs a namenode until the process is asked to end. */
public final class NamenodeCommand extends OptionsCommand {
  /** Declares its options. */
  public NamenodeCommand() {
    super(
        "namenode",
        "runs a namenode",
        "",
        """
        It serves on the address that crail.namenode.address names. With several namenodes there, -i
        or -a and -p say which of them this is; all of them have to run before the cluster works.
        SIGTERM and SIGINT end it; its metadata are gone then, unless crail.namenode.durability says
        otherwise.
        """,
        valued("a", "address", "host", "host name or address to serve on"),
        valued("p", "port", "port", "port to serve on; 0 takes a free one"),
        valued("i", "index", "index", "place in crail.namenode.address, from 0"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail namenode", "the only namenode of the configuration"),
        new Example("crail namenode -i 1", "the second one of several"));
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    Configuration configuration = context.configuration();
    NamenodeAddresses addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    Place place = place(line, addresses);
    InetSocketAddress bind = bindAddress(line, addresses.peers(place.namenode()).get(place.peer()));
    SecurityKeys.requireGuarded(configuration, bind);
    // A standby too: it needs them when it takes over.
    Secrets secrets = Secrets.of(configuration, Clock.SYSTEM);
    if (secrets != null) {
      secrets.requireMasters();
    }
    boolean isAlone = addresses.peers(place.namenode()).size() == 1;
    try (ShutdownGate gate = ShutdownGate.open();
        ThreadDeaths deaths = ThreadDeaths.endTheProcess();
        Transport transport = TransportProvider.open(configuration);
        AutoCloseable server =
            isAlone
                ? alone(context, place, bind, transport)
                : replicated(context, place, bind, transport)) {
      gate.await();
    }
    return 0;
  }

  private static AutoCloseable alone(
      CommandContext context, Place place, InetSocketAddress bind, Transport transport)
      throws IOException {
    Configuration configuration = context.configuration();
    NamenodeAddresses addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    NameNodeServer server =
        NameNodeServer.startAlone(
            configuration, place.namenode(), addresses.size(), bind, transport, Clock.SYSTEM);
    AutoCloseable shown = null;
    try {
      server.meet(addresses);
      ClusterPage page = ClusterPage.of(server, configuration, transport);
      shown = show(context, page, MetricsServer::of, server);
      announce(context, server);
    } finally {
      if (shown == null) {
        server.close();
      }
    }
    return both(shown, server);
  }

  /** One of several peers, which serves now and then. Its metrics and its page are always there. */
  private static AutoCloseable replicated(
      CommandContext context, Place place, InetSocketAddress bind, Transport transport)
      throws IOException {
    Configuration configuration = context.configuration();
    ReplicatedNamenode peer =
        ReplicatedNamenode.start(
            configuration,
            place.namenode(),
            place.peer(),
            bind,
            transport,
            Clock.SYSTEM,
            server -> announce(context, server));
    AutoCloseable shown = null;
    try {
      ClusterPage page = ClusterPage.of(peer, configuration, transport);
      shown = show(context, page, MetricsServer::of, peer);
      context.announce(
          "peer "
              + place.peer()
              + " of namenode "
              + place.namenode()
              + " takes part on "
              + Addresses.numeric(bind));
    } finally {
      if (shown == null) {
        peer.close();
      }
    }
    return both(shown, peer);
  }

  private static AutoCloseable both(AutoCloseable first, AutoCloseable second) {
    return () -> {
      try (second) {
        first.close();
      }
    };
  }

  /** Makes the port of metrics of a process, which serves its page too. */
  @FunctionalInterface
  private interface Shows<S> {
    MetricsServer of(S server, Configuration configuration, Map<String, HttpPort.Page> pages)
        throws IOException;
  }

  /** Shows what a process does. Owns the page. */
  private static <S> AutoCloseable show(
      CommandContext context, ClusterPage page, Shows<S> shows, S server) throws IOException {
    MetricsServer metrics = null;
    try {
      metrics = shows.of(server, context.configuration(), page.pages());
    } finally {
      if (metrics == null) {
        page.close();
      }
    }
    metrics.url("/metrics").ifPresent(url -> context.announce("metrics are at " + url));
    metrics.url("/").ifPresent(url -> context.announce("the cluster's page is at " + url));
    return both(metrics, page);
  }

  private static void announce(CommandContext context, NameNodeServer server) {
    context.announce(
        "namenode "
            + server.index()
            + " of "
            + context.configuration().get(ClusterKeys.NAMENODE_ADDRESS).size()
            + " serves on "
            + Addresses.numeric(server.address()));
  }

  /**
   * Which process of a cluster this is.
   *
   * @param namenode the index of the namenode
   * @param peer which of its peers it is
   */
  private record Place(int namenode, int peer) {}

  private static Place place(CommandLine line, NamenodeAddresses addresses) throws UsageException {
    Place found = null;
    int from = line.hasOption("i") ? number(line, "i", 0, addresses.size() - 1) : 0;
    int to = line.hasOption("i") ? from : addresses.size() - 1;
    for (int i = from; i <= to; i++) {
      List<InetSocketAddress> peers = addresses.peers(i);
      for (int peer = 0; peer < peers.size(); peer++) {
        if ((line.hasOption("i") && peers.size() == 1) || matches(line, peers.get(peer))) {
          if (found != null) {
            throw new UsageException(
                "crail.namenode.address names "
                    + addresses.all().size()
                    + " namenodes; say which one this is, with -i or with -a and -p");
          }
          found = new Place(i, peer);
        }
      }
    }
    if (found == null && addresses.all().size() == 1) {
      return new Place(0, 0);
    }
    if (found == null) {
      throw new UsageException("-a and -p are none of crail.namenode.address; -i says which it is");
    }
    return found;
  }

  private static boolean matches(CommandLine line, InetSocketAddress address)
      throws UsageException {
    return (!line.hasOption("a") || address.getHostString().equals(line.getOptionValue("a")))
        && (!line.hasOption("p") || address.getPort() == port(line, "p"));
  }

  private static InetSocketAddress bindAddress(CommandLine line, InetSocketAddress configured)
      throws IOException, UsageException {
    String host = line.getOptionValue("a", configured.getHostString());
    int port = line.hasOption("p") ? port(line, "p") : configured.getPort();
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new IOException("cannot resolve host '" + host + "'");
    }
    return address;
  }
}
