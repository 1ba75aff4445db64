/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.Answers;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.ExitCode;
import io.crail.tool.report.ClusterQuery;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.NamenodeAnswer;
import io.crail.tool.report.PartialReport;
import io.crail.tool.top.TopQuery;
import io.crail.tool.top.TopReport;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The namenodes as an administrator's command talks to them. */
public final class AdminClient implements AutoCloseable {
  private final Configuration configuration;
  private final NamenodeAddresses addresses;
  private final Transport transport;
  private final ClientLoop loop;
  private final NameNodeClient.Identity identity;
  private final NameNodeClient client;

  private final CommandCluster embedded;

  private AdminClient(CommandCluster embedded, Configuration configuration) {
    this.embedded = embedded;
    this.configuration = configuration;
    addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    transport = TransportProvider.open(configuration);
    loop = transport.newClientLoop("admin");
    identity = NameNodeClient.Identity.ofClient(configuration);
    client =
        new NameNodeClient(
            loop,
            addresses,
            identity,
            transport.peerOptions(),
            configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos());
  }

  /**
   * Creates a client of the namenodes in a command's configuration. It connects when it needs to.
   */
  public static AdminClient of(CommandContext context) throws IOException {
    CommandCluster embedded = new CommandCluster(context);
    try {
      return new AdminClient(embedded, embedded.openConfigured());
    } catch (IOException | RuntimeException e) {
      embedded.close();
      throw e;
    }
  }

  /** The configuration of the cluster. */
  public Configuration configuration() {
    return configuration;
  }

  /** The number of namenodes. */
  public int count() {
    return addresses.size();
  }

  /** Names namenode {@code index} for a user. */
  public String name(int index) {
    return MissingNamenode.name(index, addresses.text(index));
  }

  /** Asks namenode {@code index} and waits for the answer. */
  public <Q, R> R ask(int index, Operation<Q, R> operation, Q request)
      throws IOException, InterruptedException {
    return client.callAt(index, operation, request).join();
  }

  /** Asks the namenode that the table says and waits for the answer. */
  public <Q, R> R ask(Operation<Q, R> operation, Q request)
      throws IOException, InterruptedException {
    return client.call(operation, request).join();
  }

  /**
   * Asks all namenodes for what there is to report.
   *
   * @throws CrailException when none answers
   */
  public ClusterReport report() throws CrailException, InterruptedException {
    return ClusterQuery.of(client);
  }

  /** The same, even if none answers. */
  public ClusterReport reportAnyway() throws InterruptedException {
    return ClusterQuery.ofAny(client);
  }

  /** How namenode {@code index} sees its datanodes, ascending by id. */
  public List<ReportDatanodes.Datanode> datanodes(int index)
      throws CrailException, InterruptedException {
    return ClusterQuery.datanodes(client, index);
  }

  /** Visits all extents of namenode {@code index}. */
  public void extents(int index, ClusterQuery.ExtentVisitor visitor)
      throws CrailException, InterruptedException {
    ClusterQuery.extents(client, index, ListExtents.ANY_DATANODE, visitor);
  }

  /** Which namenodes answer, and how fast. */
  public List<NamenodeAnswer> answers() throws InterruptedException {
    return ClusterQuery.answers(client);
  }

  /** Asks what goes on, again and again. */
  public TopQuery top(TopReport.Manner manner) {
    return new TopQuery(client, identity.clientId(), manner);
  }

  /** Adds the part of one namenode to a report. */
  public interface Step {
    /** Asks namenode {@code index}, and shows or keeps its answer. */
    void run(int index) throws IOException, InterruptedException;
  }

  /**
   * Makes a report with the parts of all namenodes, and names those that are down on {@code err}.
   * All namenodes are first pinged at the same time, so those that are down cost one deadline
   * together.
   *
   * @return 0, or {@link ExitCode#PARTIAL} when a part is missing
   * @throws CrailException when all are down, or one refuses
   */
  public int report(PrintStream err, Step step) throws IOException, InterruptedException {
    List<MissingNamenode> missing = each(step);
    missing.forEach(each -> err.println(PartialReport.without(each)));
    return missing.isEmpty() ? 0 : ExitCode.PARTIAL;
  }

  /**
   * The same, but gives the namenodes that are down.
   *
   * @throws CrailException when all are down, or one refuses
   */
  public List<MissingNamenode> each(Step step) throws IOException, InterruptedException {
    Ping.Request ping = new Ping.Request(ThreadLocalRandom.current().nextLong());
    Answers<Ping.Response> alive = Answers.of(client, NameNodeOperations.PING, ping);
    List<MissingNamenode> missing = new ArrayList<>(alive.missing());
    for (int index = 0; index < count(); index++) {
      if (alive.at(index) == null) {
        continue;
      }
      try {
        step.run(index);
      } catch (CrailException e) {
        missing.add(Answers.missing(client, index, e));
      }
    }
    return missing;
  }

  @Override
  public void close() {
    client.close();
    loop.close();
    transport.close();
    embedded.close();
  }
}
