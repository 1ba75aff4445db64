/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.common.Addresses;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.ConfigType;
import io.crail.common.error.CrailException;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Lead;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.Display;
import io.crail.tool.report.NamenodeReport;
import io.crail.tool.report.ReportCommand;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.commons.cli.CommandLine;

/** Shows which peer of each namenode serves, and moves that from one to another. */
public final class LeaderCommand extends ReportCommand {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long PAUSE_MILLIS = 100;

  /** Declares its options. */
  public LeaderCommand() {
    super(
        "leader",
        "shows which peer of a namenode serves, or has another one serve",
        """
        Lists the peers of all namenodes that have standbys. With -t, the peer at that address, as
        crail.namenode.address has it, takes over. No operation fails; those of this moment wait
        until it serves. Do so before the host of the one that serves goes down.
        """,
        valued("t", "to", "host:port", "has this peer serve"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail leader", "who serves, and how far the others are"),
        new Example("crail leader -t node2:9060", "the peer at this address takes over"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    try (AdminClient cluster = AdminClient.of(context)) {
      NamenodeAddresses addresses = cluster.configuration().get(ClusterKeys.NAMENODE_ADDRESS);
      if (line.hasOption("t")) {
        return move(context, cluster, addresses, address(line.getOptionValue("t")));
      }
      return display.show(() -> report(cluster, addresses));
    }
  }

  private static InetSocketAddress address(String text) throws UsageException {
    try {
      return ConfigType.parseAddress(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException("the address '" + text + "' " + e.getMessage());
    }
  }

  private static PeersReport report(AdminClient cluster, NamenodeAddresses addresses)
      throws IOException, InterruptedException {
    List<NamenodeReport.Peer> rows = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (int index = 0; index < addresses.size(); index++) {
      List<InetSocketAddress> peers = addresses.peers(index);
      if (peers.size() > 1) {
        try {
          rows.addAll(NamenodeReport.Peer.of(index, peers, ask(cluster, index, Lead.NONE)));
        } catch (CrailException e) {
          missing.add(cluster.name(index) + ": " + e.getMessage());
        }
      }
    }
    return new PeersReport(rows, missing);
  }

  private static Lead.Response ask(AdminClient cluster, int index, int peer)
      throws IOException, InterruptedException {
    return cluster.ask(index, NameNodeOperations.LEAD, new Lead.Request(peer));
  }

  private static int move(
      CommandContext context,
      AdminClient cluster,
      NamenodeAddresses addresses,
      InetSocketAddress to)
      throws IOException, InterruptedException, UsageException {
    for (int index = 0; index < addresses.size(); index++) {
      int peer = addresses.peers(index).indexOf(to);
      if (peer >= 0 && addresses.peers(index).size() > 1) {
        return move(context, cluster, index, peer, Addresses.text(to));
      }
    }
    throw new UsageException(
        Addresses.text(to)
            + " is the address of no peer in "
            + ClusterKeys.NAMENODE_ADDRESS.name());
  }

  private static int move(
      CommandContext context, AdminClient cluster, int index, int peer, String name)
      throws IOException, InterruptedException {
    long begun = System.nanoTime();
    if (ask(cluster, index, peer).peer() == peer) {
      context.out().println(name + " serves already");
      return 0;
    }
    while (System.nanoTime() - begun < PATIENCE_NANOS) {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      if (ask(cluster, index, Lead.NONE).peer() == peer) {
        context.out().println(name + " serves namenode " + index);
        return 0;
      }
    }
    context.err().println(name + " has not taken over; 'crail leader' shows how far it is");
    return 1;
  }
}
