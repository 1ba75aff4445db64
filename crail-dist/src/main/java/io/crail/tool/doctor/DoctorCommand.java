/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.config.SiteFile;
import io.crail.common.error.CrailException;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import io.crail.tool.admin.AdminClient;
import io.crail.tool.admin.VersionCommand;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.UsageException;
import io.crail.tool.doctor.DoctorReport.Place;
import io.crail.tool.report.ClusterChecks;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.Display;
import io.crail.tool.report.Finding;
import io.crail.tool.report.LatencyQuery;
import io.crail.tool.report.ReportCommand;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.cli.CommandLine;

/** Says what is wrong, and what to do about it. */
public final class DoctorCommand extends ReportCommand {
  /** Declares its options. */
  public DoctorCommand() {
    super(
        "doctor",
        "looks for what is wrong with this host and the cluster, and names the cure",
        """
        Looks at this host (limits, memory, huge pages, the data path of a datanode, the disk of a
        namenode's log, ports that other programs have, what the storage tiers need), and asks all
        namenodes. With --hosts it also looks
        at all other hosts of the cluster through ssh, apart from their ports. It asks there too
        whether the servers answer, and compares versions, clocks and configurations. It changes
        nothing. Exit code 0 means that nothing is
        broken; warnings do not count.
        """,
        flag("H", "hosts", "also examine the other hosts, through ssh"),
        flag("o", "here", "examine this host alone, and not the cluster"),
        flag("p", "plain", "print fields with tabs between them, for programs; with --here"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail doctor", "this host and the cluster"),
        new Example("crail doctor --hosts", "also all other hosts, through ssh"));
  }

  @Override
  protected int run(CommandContext context, CommandLine line, Display display) throws Exception {
    boolean plain = line.hasOption("p");
    boolean alone = line.hasOption("o");
    boolean others = line.hasOption("H");
    if (plain && !(alone && display.isPlain())) {
      throw new UsageException("--plain goes with --here, and with neither --json nor --watch");
    }
    if (alone && others) {
      throw new UsageException("either --here or --hosts");
    }
    if (others && !context.options().settings().isEmpty()) {
      throw new UsageException("--hosts compares the hosts' files, so it takes no --set");
    }
    if (others && context.file() != null && !context.file().endsWith(SiteFile.NAME)) {
      throw new UsageException(
          "--hosts compares files of the name " + SiteFile.NAME + ", so --conf has to name one");
    }
    if (others && (context.variable("CRAIL_HOME") == null || context.file() == null)) {
      throw new UsageException("--hosts needs CRAIL_HOME, which bin/crail sets");
    }
    if (plain) {
      HostAnswer here = examine(context);
      List<Finding> findings = new ArrayList<>(here.findings());
      findings.addAll(reachIfPossible(context));
      new HostAnswer(here.clockMillis(), here.version(), here.settings(), findings)
          .write(context.out());
      return 0;
    }
    if (alone || !isUsable(context)) {
      return display.show(
          () -> DoctorReport.of(List.of(new Place("this host", examine(context).findings()))));
    }
    try (AdminClient cluster = AdminClient.of(context)) {
      return display.show(() -> examineAll(context, cluster, others));
    }
  }

  private static boolean isUsable(CommandContext context) {
    try {
      context.configuration();
      return true;
    } catch (ConfigException e) {
      return false;
    }
  }

  /** Examines this host. */
  private static HostAnswer examine(CommandContext context) throws IOException {
    Configuration configuration;
    try {
      configuration = context.configuration();
    } catch (ConfigException e) {
      Finding wrong = Finding.broken(e.getMessage(), "see docs/configuration.md for all keys");
      return new HostAnswer(now(), VersionCommand.version(), Map.of(), List.of(wrong));
    }
    List<ListedDatanode> listed = ListedDatanode.all();
    List<Finding> findings = new ArrayList<>();
    findings.add(configured(context, configuration));
    List<PlannedDatanode> datanodes = datanodesHere(configuration, listed, findings);
    findings.addAll(new HostChecks(new HostFiles(Path.of("/")), configuration, datanodes).run());
    return new HostAnswer(now(), VersionCommand.version(), configuration.shownTexts(), findings);
  }

  /** What this host reaches, or why that is not known: the rest of the answer must not be lost. */
  private static List<Finding> reachIfPossible(CommandContext context) throws Exception {
    try {
      return reach(context);
    } catch (IOException e) {
      return List.of(
          Finding.warning(
              "it is not known what this host reaches: " + e.getMessage(), "run it on that host"));
    }
  }

  /** Which servers this host reaches; a wrong configuration was reported before. */
  private static List<Finding> reach(CommandContext context) throws Exception {
    if (!isUsable(context)) {
      return List.of();
    }
    try (AdminClient cluster = AdminClient.of(context)) {
      ClusterReport report = cluster.reportAnyway();
      List<Finding> findings = new ArrayList<>(ClusterChecks.reach(report));
      findings.addAll(latencies(cluster, report));
      return findings;
    }
  }

  private static List<Finding> portsHere(Configuration configuration, ClusterReport report) {
    // What is wrong with their lines was reported before.
    List<PlannedDatanode> datanodes =
        datanodesHere(configuration, ListedDatanode.all(), new ArrayList<>());
    return new HostChecks(new HostFiles(Path.of("/")), configuration, datanodes).ports(report);
  }

  private static DoctorReport examineAll(
      CommandContext context, AdminClient cluster, boolean others) throws Exception {
    HostAnswer answer = examine(context);
    ClusterReport report = cluster.reportAnyway();
    List<Finding> own = new ArrayList<>(answer.findings());
    own.addAll(portsHere(context.configuration(), report));
    List<Place> places = new ArrayList<>();
    places.add(new Place("this host", own));
    List<Finding> findings = new ArrayList<>(ClusterChecks.of(report));
    findings.addAll(latencies(cluster, report));
    places.add(new Place("the cluster", findings));
    if (others) {
      Set<String> hosts = otherHosts(context.configuration(), ListedDatanode.all());
      if (hosts.isEmpty()) {
        String none = "none is named in crail.namenode.address or conf/datanodes";
        places.add(new Place("other hosts", List.of(Finding.ok(none))));
      }
      String conf = context.file().toAbsolutePath().getParent().toString();
      new OtherHosts(answer, context.variable("CRAIL_HOME"), conf)
          .run(hosts)
          .forEach((host, found) -> places.add(new Place("host " + host, found)));
    }
    return DoctorReport.of(places);
  }

  private static List<Finding> latencies(AdminClient cluster, ClusterReport report)
      throws Exception {
    if (report.answering().isEmpty()) {
      return List.of();
    }
    try {
      return ClusterChecks.of(report, LatencyQuery.of(cluster.configuration(), report));
    } catch (CrailException e) {
      return List.of(
          Finding.warning(
              "how fast datanodes answer could not be measured: " + e.getMessage(),
              "see what else is wrong here"));
    }
  }

  private static long now() {
    return System.currentTimeMillis();
  }

  private static Finding configured(CommandContext context, Configuration configuration) {
    Path file = context.file();
    String text =
        file != null && Files.exists(file) ? "configuration: " + file : "no configuration file";
    return configuration.isSet(ClusterKeys.NAMENODE_ADDRESS)
        ? Finding.ok(text)
        : Finding.ok(
            text + "; no namenode is named, so " + ClusterKeys.NAMENODE_ADDRESS.defaultText());
  }

  /** The datanodes that are to run on this host. */
  private static List<PlannedDatanode> datanodesHere(
      Configuration configuration, List<ListedDatanode> listed, List<Finding> findings) {
    List<PlannedDatanode> here = new ArrayList<>();
    if (listed.isEmpty()) {
      // Then any host may have one of each tier.
      for (String tier : configuration.get(StorageKeys.TYPES)) {
        here.add(StorageTier.find(tier).plan(configuration, List.of()));
      }
    }
    for (ListedDatanode each : listed) {
      if (HostChecks.isHere(each.host())) {
        try {
          here.add(each.datanode(configuration));
        } catch (UsageException | ConfigException e) {
          findings.add(
              Finding.broken(
                  "the line '" + each + "' of conf/datanodes is wrong: " + e.getMessage(),
                  "crail datanode --help shows its arguments"));
        }
      }
    }
    return here;
  }

  private static Set<String> otherHosts(Configuration configuration, List<ListedDatanode> listed) {
    Set<String> hosts = new LinkedHashSet<>();
    for (InetSocketAddress namenode : configuration.get(ClusterKeys.NAMENODE_ADDRESS).all()) {
      hosts.add(namenode.getHostString());
    }
    listed.forEach(each -> hosts.add(each.host()));
    // A word that begins so would be an option of ssh.
    hosts.removeIf(host -> HostChecks.isHere(host) || host.startsWith("-"));
    return hosts;
  }
}
