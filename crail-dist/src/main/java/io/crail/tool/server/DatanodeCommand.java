/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.server;

import io.crail.common.Addresses;
import io.crail.common.ByteText;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.Region;
import io.crail.protocol.secret.SecurityKeys;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import io.crail.storage.daemon.Datanode;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.ThreadDeaths;
import io.crail.tool.command.UsageException;
import io.crail.tool.metrics.MetricsServer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.cli.CommandLine;

/**
 * Runs a datanode until the process is asked to end, or the namenodes have removed the datanode.
 */
public final class DatanodeCommand extends OptionsCommand {
  private static final long PATIENCE_NANOS = 5_000_000_000L;

  private static final List<String> OWN = List.of("-t", "--tier", "-c", "--class");
  private static final List<String> STAY = List.of("-k", "--stay");

  /** Declares its options. */
  public DatanodeCommand() {
    super(
        "datanode",
        "runs a datanode, which lends memory or flash to the cluster",
        "[-- <arguments of the tier>]",
        """
        It registers with the namenodes by itself, again after they were restarted. It ends when
        it has been removed ('crail removeDatanode', 'crail drain'), or by SIGTERM or SIGINT; its
        data are gone then. A supervisor that restarts every process that ends would start a removed
        one again, without its data. Under such a supervisor, use --stay.
        """,
        valued("t", "tier", "tier", "storage tier, by default the first of crail.storage.types"),
        valued(
            "c",
            "class",
            "class",
            "storage class, below crail.storage.classes; by default the tier's place in that list"),
        flag("k", "stay", "once it was removed, lend nothing, but end only by a signal"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail datanode", "a datanode of the first tier"),
        new Example("crail datanode -- -s 16g", "that lends 16 GiB"),
        new Example("crail datanode -c 1 -- -d /mnt/nvme -s 1t", "a disk as storage class 1"));
  }

  /** The arguments of the tiers that are here; those that take the same ones stand together. */
  @Override
  protected String details() {
    Map<String, List<String>> tiers = new LinkedHashMap<>();
    for (StorageTier tier : StorageTier.all()) {
      String help = tier.arguments().help();
      if (!help.isEmpty()) {
        tiers.computeIfAbsent(help, none -> new ArrayList<>()).add(tier.name());
      }
    }
    StringBuilder text = new StringBuilder();
    tiers.forEach(
        (help, names) ->
            text.append(names.size() == 1 ? "Arguments of the tier " : "Arguments of the tiers ")
                .append(String.join(" and ", names))
                .append(":\n")
                .append(help));
    return text + super.details();
  }

  /** What may follow '--': the options of all tiers. */
  private static Set<String> tierOptions() {
    return StorageTier.all().stream()
        .flatMap(tier -> tier.arguments().options().stream())
        .collect(Collectors.toSet());
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  /** The right line, for arguments of the tier that are not behind {@code --}. */
  @Override
  protected String hint(List<String> arguments) {
    List<String> own = new ArrayList<>();
    List<String> tiers = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      boolean hasValue = OWN.contains(arguments.get(i));
      List<String> side = hasValue || STAY.contains(arguments.get(i)) ? own : tiers;
      side.add(arguments.get(i));
      if (hasValue && i + 1 < arguments.size()) {
        side.add(arguments.get(++i));
      }
    }
    if (tiers.stream().noneMatch(tierOptions()::contains) || tiers.contains("--")) {
      return "";
    }
    own.add("--");
    own.addAll(tiers);
    return "arguments of the tier follow '--': crail datanode " + String.join(" ", own);
  }

  /**
   * What a datanode is asked to be.
   *
   * @param tier the name of its tier
   * @param storageClass its storage class, or -1 for the tier's
   * @param tierArguments the tier's own arguments
   */
  public record Wanted(String tier, int storageClass, List<String> tierArguments) {}

  /** What the arguments of this command ask for. */
  public static Wanted wanted(CommandLine line, Configuration configuration) throws UsageException {
    int classes = configuration.get(NameNodeKeys.STORAGE_CLASSES);
    return new Wanted(
        line.getOptionValue("t", configuration.get(StorageKeys.TYPES).get(0)),
        line.hasOption("c") ? number(line, "c", 0, classes - 1) : -1,
        line.getArgList());
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    Configuration configuration = context.configuration();
    Wanted wanted = wanted(line, configuration);
    try (ShutdownGate gate = ShutdownGate.open();
        ThreadDeaths deaths = ThreadDeaths.endTheProcess();
        Transport transport = TransportProvider.open(configuration);
        Datanode datanode =
            Datanode.start(
                configuration,
                StorageTier.find(wanted.tier()),
                wanted.storageClass(),
                wanted.tierArguments(),
                transport);
        MetricsServer metrics = MetricsServer.of(datanode, configuration)) {
      SecurityKeys.requireGuarded(configuration, datanode.server().address());
      metrics.url("/metrics").ifPresent(url -> context.announce("metrics are at " + url));
      gate.onAsked(datanode::close);
      if (serve(context, configuration, datanode, gate)) {
        removed(context, datanode, gate, line.hasOption("k"));
      }
      return 0;
    }
  }

  /** True when the namenodes have removed it, false when the process was asked to end. */
  private static boolean serve(
      CommandContext context, Configuration configuration, Datanode datanode, ShutdownGate gate)
      throws CrailException, InterruptedException {
    while (!datanode.awaitRegistered(PATIENCE_NANOS)) {
      if (gate.isAsked()) {
        return false;
      }
      context
          .err()
          .println(
              "datanode waits for the namenodes at "
                  + configuration.get(ClusterKeys.NAMENODE_ADDRESS));
    }
    long bytes = datanode.server().regions().stream().mapToLong(Region::length).sum();
    context.announce(
        "datanode "
            + datanode.uuid()
            + " serves "
            + ByteText.of(bytes)
            + " on "
            + Addresses.numeric(datanode.server().address())
            + ", registered");
    return datanode.awaitStopped();
  }

  private static void removed(
      CommandContext context, Datanode datanode, ShutdownGate gate, boolean stays)
      throws InterruptedException {
    String what = "datanode " + datanode.uuid() + " was removed and ";
    if (!stays) {
      context.announce(what + "ends");
      return;
    }
    // Gives back what it has lent.
    datanode.close();
    context.announce(what + "lends nothing any more; it stays until SIGTERM");
    gate.await();
  }
}
