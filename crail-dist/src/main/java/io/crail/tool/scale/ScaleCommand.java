/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.client.CoreStore;
import io.crail.common.Clock;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.UsageException;
import io.crail.tool.scale.ScaleController.Patience;
import io.crail.tool.scale.ScaleDecision.Kind;
import io.crail.tool.scale.ScaleObservation.Ending;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.apache.commons.cli.CommandLine;

/** Starts and ends datanodes as a storage class fills and empties. */
public final class ScaleCommand extends OptionsCommand {
  private static final long END_MILLIS = 8_000;

  /** Renewals that a lease outlives, each after a period and with the deadline of a call. */
  private static final int LEAST_RENEWALS = 3;

  private static final Duration USUAL_LEASE = Duration.ofSeconds(45);

  private static final int MOST_DATANODES = 100_000;

  /** Declares its options. */
  public ScaleCommand() {
    super(
        "scale",
        "starts and ends datanodes as they fill and empty",
        "",
        """
        A controller that runs until SIGTERM. Every period it looks at the datanodes of a storage
        class that are not being drained. Above --high, or above --rate, it has --start-hook start as
        many as bring them to --target. When the use has been low for --down-window, it drains the
        emptiest one and has --stop-hook end it once it is empty; so no byte is lost. Meanwhile
        writers that find no space wait. Of several controllers of a class one acts, by a lease, and
        the others wait to take over. Hooks are lines for bash, with variables CRAIL_SCALE_...:
        NAMES, COUNT, STARTING for --start-hook; ADDRESS, HOST, PORT, UUID for --stop-hook;
        ADDRESSES for --choose-hook, whose last line of output is the one to drain. They may be run
        again after a failure.
        """,
        valued("c", "class", "class", "storage class; default 0"),
        valued("l", "least", "count", "never fewer datanodes; default 1"),
        valued("m", "most", "count", "never more datanodes"),
        valued("H", "high", "percent", "add above this use of the space; default 80"),
        valued(
            "L", "low", "percent", "drain one if the use stays below this without it; default 50"),
        valued("T", "target", "percent", "add up to this use; default near --high"),
        valued("r", "rate", "bytes", "also add above so many bytes a second at each, such as 1g"),
        valued(
            "w", "down-window", "time", "how long it has to be low before a drain; default 300s"),
        valued("p", "period", "time", "time between two decisions; default 3s"),
        valued("s", "start-hook", "line", "starts datanodes"),
        valued("e", "stop-hook", "line", "ends a datanode that is empty"),
        valued("C", "choose-hook", "line", "names the datanode to drain; default the emptiest"),
        valued("k", "hook-deadline", "time", "how long a hook may take; default 60s"),
        valued(
            "R", "register-deadline", "time", "how long a datanode may take to come; default 120s"),
        valued(
            "P", "drain-patience", "time", "undo a drain that moves nothing so long; default 300s"),
        valued("b", "bandwidth", "bytes", "drain with at most so many bytes a second"),
        valued(
            "x", "lease", "time", "how long the lease lives without its controller; default 45s"),
        flag("n", "dry-run", "decide, and do nothing"),
        flag("o", "once", "decide once, do it to the end, and exit"),
        flag("j", "json", "print JSON, an object a line"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail scale --most 8 --dry-run --once", "what would be done now"),
        new Example(
            "crail scale --least 2 --most 16 -s $hook -e $hook -C $hook",
            "with hook=deploy/scale/systemd: units on this host"),
        new Example("crail scale -m 8 -r 1g -s ./start -e ./stop --json", "also by rate"));
  }

  /** All that the command line says. */
  private record Settings(
      int storageClass,
      ScaleLimits limits,
      Duration period,
      Duration lease,
      long drainMillis,
      long registerMillis,
      long bandwidth,
      ClusterWorld.Hooks hooks,
      boolean dry,
      boolean once) {
    Patience patience() {
      // The next announcement may take its time.
      return new Patience(registerMillis, drainMillis, 2 * lease.toMillis());
    }
  }

  private static Settings settings(CommandLine line, Configuration configuration)
      throws UsageException {
    double high = percent(line, "H", "80");
    double low = percent(line, "L", "50");
    boolean dry = line.hasOption("n");
    required(line, "m");
    ScaleLimits limits;
    try {
      limits =
          new ScaleLimits(
              high,
              low,
              line.hasOption("T") ? percent(line, "T", "") : ScaleLimits.usualTarget(high, low),
              line.hasOption("r") ? bytes(line, "r") : 0,
              line.hasOption("l") ? number(line, "l", 1, MOST_DATANODES) : 1,
              number(line, "m", 1, MOST_DATANODES),
              time(line, "w", "300s").toMillis());
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
    Duration period = time(line, "p", "3s");
    if (period.toMillis() < 100) {
      throw new UsageException("--period must be at least 100ms");
    }
    int classes = configuration.get(NameNodeKeys.STORAGE_CLASSES);
    return new Settings(
        line.hasOption("c") ? number(line, "c", 0, classes - 1) : 0,
        limits,
        period,
        lease(line, period.plus(configuration.get(ClusterKeys.RPC_TIMEOUT))),
        seconds(line, "P", "300s").toMillis(),
        seconds(line, "R", "120s").toMillis(),
        line.hasOption("b") ? bytes(line, "b") : 0,
        new ClusterWorld.Hooks(
            dry ? "" : required(line, "s"),
            dry ? "" : required(line, "e"),
            line.getOptionValue("C", ""),
            seconds(line, "k", "60s")),
        dry,
        line.hasOption("o"));
  }

  /**
   * The length of the lease.
   *
   * @param renewal how long it may take from one renewal to the next
   */
  private static Duration lease(CommandLine line, Duration renewal) throws UsageException {
    Duration least = renewal.multipliedBy(LEAST_RENEWALS);
    if (!line.hasOption("x")) {
      return least.compareTo(USUAL_LEASE) > 0 ? least : USUAL_LEASE;
    }
    Duration lease = time(line, "x", "");
    if (lease.compareTo(least) < 0) {
      throw badValue(
          "x",
          line.getOptionValue("x"),
          "must be at least "
              + (least.toMillis() + 999) / 1000
              + "s, three times --period and crail.rpctimeout together");
    }
    return lease;
  }

  private static double percent(CommandLine line, String letter, String usual)
      throws UsageException {
    String text = line.getOptionValue(letter, usual);
    try {
      double percent = Double.parseDouble(text.replaceAll("%$", ""));
      if (percent >= 0 && percent <= 100) {
        return percent / 100;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message below.
    }
    throw badValue(letter, text, "must be a part of the space in percent, such as 80");
  }

  private static long bytes(CommandLine line, String letter) throws UsageException {
    String text = line.getOptionValue(letter);
    try {
      long bytes = ConfigType.parseBytes(text);
      if (bytes > 0) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // Falls through to the one message below.
    }
    throw badValue(letter, text, "must be a number of bytes such as 512k or 1g");
  }

  private static Duration seconds(CommandLine line, String letter, String usual)
      throws UsageException {
    Duration time = time(line, letter, usual);
    if (time.toSeconds() < 1) {
      throw badValue(letter, line.getOptionValue(letter), "must be at least 1s");
    }
    return time;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    Settings settings = settings(line, context.configuration());
    ScaleEvents events = new ScaleEvents(context::announce, line.hasOption("j"));
    try (ShutdownGate gate = ShutdownGate.open()) {
      gate.onAsked(Thread.currentThread()::interrupt);
      try (CommandCluster cluster = new CommandCluster(context)) {
        Configuration configuration = cluster.openConfigured();
        try (CoreStore store = CoreStore.open(configuration)) {
          ClusterWorld world =
              new ClusterWorld(
                  configuration,
                  store,
                  settings.storageClass(),
                  settings.bandwidth(),
                  settings.hooks(),
                  text -> context.err().println(text));
          return settings.dry()
              ? look(settings, world, events)
              : new Reign(settings, store, world, events).run();
        } catch (InterruptedException e) {
          // That was the request to end.
          Thread.interrupted();
          return 0;
        }
      }
    }
  }

  /** Says what would be done, of which nothing is done. */
  private static int look(Settings settings, ClusterWorld world, ScaleEvents events)
      throws CrailException, InterruptedException {
    ScalePolicy policy = new ScalePolicy(settings.limits());
    long low = ScaleObservation.NEVER;
    while (true) {
      ScaleWorld.View view = world.look();
      ScaleDecision decision =
          policy.decide(
              new ScaleObservation(
                  world.millis(),
                  view.members(),
                  view.isWhole(),
                  0,
                  Ending.NONE,
                  ScaleObservation.NEVER,
                  low));
      low = decision.lowMillis();
      String event = decision.kind().toString().toLowerCase(Locale.ROOT);
      events.decided(decision, event, decision.kind() == Kind.HOLD ? "" : "only looked");
      if (settings.once()) {
        return 0;
      }
      world.sleep(settings.period().toMillis());
    }
  }

  /** A controller from the wait for its lease to its end, and again. */
  private static final class Reign {
    private final Settings settings;
    private final ClusterWorld world;
    private final ScaleEvents events;
    private final ScaleLease lease;
    private ScaleController controller;
    private boolean leads;
    private boolean hasStepped;

    Reign(Settings settings, CoreStore store, ClusterWorld world, ScaleEvents events) {
      this.settings = settings;
      this.world = world;
      this.events = events;
      this.lease =
          new ScaleLease(
              store,
              "class-" + settings.storageClass(),
              UUID.randomUUID().toString(),
              settings.lease(),
              Clock.SYSTEM);
    }

    int run() throws CrailException, InterruptedException {
      try {
        while (true) {
          if (!round()) {
            return ExitCode.FAILURE;
          }
          if (settings.once() && hasStepped && (controller.isIdle() || controller.isFailing())) {
            return controller.isFailing() ? ExitCode.FAILURE : 0;
          }
          long pause = settings.period().toMillis();
          world.sleep(leads ? pause : Math.max(pause, settings.lease().toMillis() / 4));
        }
      } finally {
        // So that what cleans up can wait.
        boolean asked = Thread.interrupted();
        end();
        if (asked) {
          Thread.currentThread().interrupt();
        }
      }
    }

    /** One look at lease and cluster; false when there is nothing to do for this process. */
    private boolean round() throws CrailException, InterruptedException {
      try {
        if (!leads && !take()) {
          return !settings.once();
        }
        if (!settings.once() || !hasStepped) {
          controller.step();
        } else {
          controller.goOn();
        }
        hasStepped = true;
      } catch (LeaseLostException e) {
        leads = false;
        events.controller("lost", "the lease is lost, so nothing is done: " + e.getMessage());
        controller.abandon();
      } catch (CrailException e) {
        if (settings.once()) {
          throw e;
        }
        events.controller("unseen", e.getMessage());
      }
      return true;
    }

    private boolean take() throws CrailException, InterruptedException {
      Optional<ScaleLease.Held> held = lease.acquire();
      if (held.isEmpty()) {
        events.controller("standby", "another controller has the lease");
        return false;
      }
      leads = true;
      world.token(held.get().token());
      events.controller("leads", "has the lease, token " + held.get().token());
      String record = held.get().record();
      if (controller == null || !record.isEmpty()) {
        controller = successor(record);
      }
      return true;
    }

    private ScaleController successor(String text) {
      ScaleRecord record = ScaleRecord.FIRST;
      try {
        record = ScaleRecord.parse(text);
      } catch (IllegalArgumentException e) {
        events.controller("damaged", "the record of the last controller cannot be read");
      }
      return new ScaleController(
          lease,
          world,
          settings.limits(),
          settings.patience(),
          "scale-" + settings.storageClass() + "-",
          record,
          events);
    }

    private void end() throws InterruptedException {
      if (!leads) {
        return;
      }
      leads = false;
      try {
        controller.end(END_MILLIS);
        lease.release();
        events.controller("ended", "has given the lease back");
      } catch (LeaseLostException | CrailException e) {
        events.controller("ended", "without the lease: " + e.getMessage());
        controller.abandon();
      }
    }
  }
}
