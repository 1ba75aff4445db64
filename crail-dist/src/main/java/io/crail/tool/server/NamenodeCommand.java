/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.server;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.ThreadDeaths;
import io.crail.tool.command.UsageException;
import io.crail.tool.metrics.MetricsServer;
import io.crail.tool.page.ClusterPage;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
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
    List<InetSocketAddress> addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    int index = index(line, addresses);
    InetSocketAddress bind = bindAddress(line, addresses.get(index));
    try (ShutdownGate gate = ShutdownGate.open();
        ThreadDeaths deaths = ThreadDeaths.endTheProcess();
        Transport transport = TransportProvider.open(configuration);
        NameNodeServer server =
            NameNodeServer.startAlone(
                configuration, index, addresses.size(), bind, transport, Clock.SYSTEM);
        ClusterPage page = ClusterPage.of(server, configuration, transport);
        MetricsServer metrics = MetricsServer.of(server, configuration, page.pages())) {
      server.meet(addresses);
      metrics.url("/metrics").ifPresent(url -> context.announce("metrics are at " + url));
      metrics.url("/").ifPresent(url -> context.announce("the cluster's page is at " + url));
      context.announce(
          "namenode "
              + index
              + " of "
              + addresses.size()
              + " serves on "
              + Addresses.numeric(server.address()));
      gate.await();
    }
    return 0;
  }

  /** The index of this namenode. */
  private static int index(CommandLine line, List<InetSocketAddress> addresses)
      throws UsageException {
    if (line.hasOption("i")) {
      return number(line, "i", 0, addresses.size() - 1);
    }
    if (addresses.size() == 1) {
      return 0;
    }
    int found = -1;
    for (int i = 0; i < addresses.size(); i++) {
      InetSocketAddress address = addresses.get(i);
      boolean matches =
          (!line.hasOption("a") || address.getHostString().equals(line.getOptionValue("a")))
              && (!line.hasOption("p") || address.getPort() == port(line, "p"));
      if (matches && found >= 0) {
        throw new UsageException(
            "crail.namenode.address names "
                + addresses.size()
                + " namenodes; say which one this is, with -i or with -a and -p");
      }
      found = matches ? i : found;
    }
    if (found < 0) {
      throw new UsageException("-a and -p are none of crail.namenode.address; -i says which it is");
    }
    return found;
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
