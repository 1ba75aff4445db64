/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Printable;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.dist.admin.AdminClient;
import io.crail.dist.admin.VersionCommand;
import io.crail.dist.command.CommandContext;
import io.crail.dist.command.Example;
import io.crail.dist.command.ExitCode;
import io.crail.dist.command.OptionsCommand;
import io.crail.dist.command.UsageException;
import io.crail.dist.doctor.Finding.Grade;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.StorageKeys;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.commons.cli.CommandLine;

/** Says what is wrong, and what to do about it. */
public final class DoctorCommand extends OptionsCommand {
  /** Declares its options. */
  public DoctorCommand() {
    super(
        "doctor",
        "looks for what is wrong with this host and the cluster, and names the cure",
        "",
        """
        Looks at this host (limits, memory, huge pages, the data path of a datanode, RDMA if it is
        used), and asks all namenodes. With --hosts it also looks at all other hosts of the cluster
        through ssh, and compares their versions, clocks and configurations. It changes nothing.
        Exit code 0 means that nothing is broken; warnings do not count.
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
  protected int run(CommandContext context, CommandLine line) throws Exception {
    boolean plain = line.hasOption("p");
    boolean alone = line.hasOption("o");
    if (plain && !alone) {
      throw new UsageException("--plain goes with --here");
    }
    if (alone && line.hasOption("H")) {
      throw new UsageException("either --here or --hosts");
    }
    if (line.hasOption("H") && !context.options().settings().isEmpty()) {
      throw new UsageException("--hosts compares the hosts' files, so it takes no --set");
    }
    Configuration configuration;
    try {
      configuration = context.configuration();
    } catch (ConfigException e) {
      Finding wrong = Finding.broken(e.getMessage(), "see docs/configuration.md for all keys");
      return answer(context, plain, new HostAnswer(now(), version(), Map.of(), List.of(wrong)));
    }
    List<ListedDatanode> listed = ListedDatanode.all();
    List<Finding> findings = new ArrayList<>();
    findings.add(configured(context, configuration));
    List<LocalDatanode> datanodes = datanodesHere(configuration, listed, findings);
    findings.addAll(new HostChecks(new HostFiles(Path.of("/")), configuration, datanodes).run());
    HostAnswer here = new HostAnswer(now(), version(), configuration.shownTexts(), findings);
    if (alone) {
      return answer(context, plain, here);
    }
    PrintStream out = context.out();
    show(out, "this host", findings);
    List<Finding> all = new ArrayList<>(findings);
    try (AdminClient cluster = AdminClient.of(context)) {
      List<Finding> found = new ClusterChecks(cluster).run();
      show(out, "the cluster", found);
      all.addAll(found);
    }
    if (line.hasOption("H")) {
      Set<String> hosts = otherHosts(configuration, listed);
      Path file = context.file();
      String home = context.variable("CRAIL_HOME");
      if (home == null || file == null) {
        throw new UsageException("--hosts needs CRAIL_HOME, which bin/crail sets");
      }
      if (hosts.isEmpty()) {
        out.println("no other host is named in crail.namenode.address or conf/datanodes");
      }
      new OtherHosts(here, home, file.toAbsolutePath().getParent().toString())
          .run(hosts)
          .forEach(
              (host, found) -> {
                show(out, "host " + Printable.line(host), found);
                all.addAll(found);
              });
    }
    return end(out, all);
  }

  private static long now() {
    return System.currentTimeMillis();
  }

  private static String version() {
    return VersionCommand.version();
  }

  private static int answer(CommandContext context, boolean plain, HostAnswer answer) {
    if (plain) {
      answer.write(context.out());
      return 0;
    }
    show(context.out(), "this host", answer.findings());
    return end(context.out(), answer.findings());
  }

  private static void show(PrintStream out, String place, List<Finding> findings) {
    out.println(place);
    for (Finding each : findings) {
      out.printf("  %-8s %s%n", each.grade().name().toLowerCase(Locale.ROOT), each.text());
      if (!each.cure().isEmpty()) {
        out.printf("  %-8s %s%n", "", each.cure());
      }
    }
  }

  private static int end(PrintStream out, List<Finding> findings) {
    long broken = count(findings, Grade.BROKEN);
    long warnings = count(findings, Grade.WARNING);
    if (broken + warnings == 0) {
      out.println("all is well");
    } else {
      out.printf("%d broken, %d %s%n", broken, warnings, warnings == 1 ? "warning" : "warnings");
    }
    return broken == 0 ? 0 : ExitCode.FAILURE;
  }

  private static long count(List<Finding> findings, Grade grade) {
    return findings.stream().filter(each -> each.grade() == grade).count();
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
  private static List<LocalDatanode> datanodesHere(
      Configuration configuration, List<ListedDatanode> listed, List<Finding> findings) {
    List<LocalDatanode> here = new ArrayList<>();
    if (listed.isEmpty()) {
      // Then any host may have one of each tier.
      for (String tier : configuration.get(StorageKeys.TYPES)) {
        here.add(LocalDatanode.of(tier, configuration, List.of()));
      }
    }
    for (ListedDatanode each : listed) {
      if (isHere(each.host())) {
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
    for (InetSocketAddress namenode : configuration.get(ClusterKeys.NAMENODE_ADDRESS)) {
      hosts.add(namenode.getHostString());
    }
    listed.forEach(each -> hosts.add(each.host()));
    // A word that begins so would be an option of ssh.
    hosts.removeIf(host -> isHere(host) || host.startsWith("-"));
    return hosts;
  }

  private static boolean isHere(String host) {
    try {
      for (InetAddress address : InetAddress.getAllByName(host)) {
        if (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null) {
          return true;
        }
      }
    } catch (UnknownHostException | SocketException e) {
      // Then ssh says what is wrong with it.
    }
    return false;
  }
}
