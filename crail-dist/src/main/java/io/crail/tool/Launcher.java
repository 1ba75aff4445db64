/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import io.crail.common.Printable;
import io.crail.common.Suggestion;
import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.tool.admin.ApplicationsCommand;
import io.crail.tool.admin.CacheCommand;
import io.crail.tool.admin.DatanodesCommand;
import io.crail.tool.admin.DumpCommand;
import io.crail.tool.admin.GetconfCommand;
import io.crail.tool.admin.JobCommand;
import io.crail.tool.admin.LeaderCommand;
import io.crail.tool.admin.PingCommand;
import io.crail.tool.admin.RemoveDatanodeCommand;
import io.crail.tool.admin.SecretCommand;
import io.crail.tool.admin.TopCommand;
import io.crail.tool.admin.UsageCommand;
import io.crail.tool.admin.VersionCommand;
import io.crail.tool.admin.WholeReportCommand;
import io.crail.tool.bench.CompareCommand;
import io.crail.tool.bench.HdfsbenchCommand;
import io.crail.tool.bench.IobenchCommand;
import io.crail.tool.bench.SparkCommand;
import io.crail.tool.command.Command;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.CommonOptions;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OutputFailedException;
import io.crail.tool.command.ResultStream;
import io.crail.tool.command.UsageException;
import io.crail.tool.completion.CompletionCommand;
import io.crail.tool.doctor.DoctorCommand;
import io.crail.tool.doctor.FsckCommand;
import io.crail.tool.doctor.StatusCommand;
import io.crail.tool.drain.DrainCommand;
import io.crail.tool.drain.RebalanceCommand;
import io.crail.tool.log.LogCommand;
import io.crail.tool.path.CatCommand;
import io.crail.tool.path.ExpireCommand;
import io.crail.tool.path.GetCommand;
import io.crail.tool.path.ListCommand;
import io.crail.tool.path.MakeCommand;
import io.crail.tool.path.MoveCommand;
import io.crail.tool.path.PutCommand;
import io.crail.tool.path.QuotaCommand;
import io.crail.tool.path.RemoveCommand;
import io.crail.tool.path.StatCommand;
import io.crail.tool.path.UseCommand;
import io.crail.tool.scale.ScaleCommand;
import io.crail.tool.server.DatanodeCommand;
import io.crail.tool.server.NamenodeCommand;
import io.crail.tool.shell.FsCommand;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Finds the command, runs it, and turns what it throws into one line and an {@link ExitCode}. */
final class Launcher {
  private static final List<Command> COMMANDS =
      List.of(
          new NamenodeCommand(),
          new DatanodeCommand(),
          new ListCommand(),
          new StatCommand(),
          new PutCommand(),
          new GetCommand(),
          new CatCommand(),
          new RemoveCommand(),
          new MakeCommand(),
          new MoveCommand(),
          new UseCommand(),
          new ExpireCommand(),
          new QuotaCommand(),
          new FsCommand(),
          new IobenchCommand(),
          new HdfsbenchCommand(),
          new CompareCommand(),
          new SparkCommand(),
          new StatusCommand(),
          new LeaderCommand(),
          new WholeReportCommand(),
          new TopCommand(),
          new PingCommand(),
          new UsageCommand(),
          new DatanodesCommand(),
          new RemoveDatanodeCommand(),
          new DrainCommand(),
          new RebalanceCommand(),
          new ScaleCommand(),
          new ApplicationsCommand(),
          new JobCommand(),
          new CacheCommand(),
          new DoctorCommand(),
          new FsckCommand(),
          new DumpCommand(),
          new LogCommand(),
          new SecretCommand(),
          new GetconfCommand(),
          new CompletionCommand(Launcher::commands),
          new VersionCommand());

  private static final String HELP = "help";

  private final ResultStream out;
  private final PrintStream err;
  private final Function<String, String> environment;

  /**
   * Creates a launcher.
   *
   * @param environment gives an environment variable's value, or null
   */
  Launcher(ResultStream out, PrintStream err, Function<String, String> environment) {
    this.out = out;
    this.err = err;
    this.environment = environment;
  }

  /** Runs a command line and gives the exit code. Output that cannot be written is a failure. */
  int run(List<String> arguments) {
    int code = ExitCode.FAILURE;
    try {
      code = dispatch(arguments);
      out.flush();
    } catch (OutputFailedException e) {
      // Said below, also for a command that has caught it.
    }
    if (out.failure().isEmpty()) {
      return code;
    }
    // That 'head' has read enough is not worth a message.
    if (!out.isPipe()) {
      String reason = out.failure().get().getMessage();
      err.println("crail: the output cannot be written: " + Printable.line(reason));
    }
    return ExitCode.FAILURE;
  }

  private int dispatch(List<String> arguments) {
    int leading = CommonOptions.leading(arguments);
    if (leading >= arguments.size()) {
      err.print(overview());
      return ExitCode.USAGE;
    }
    String word = arguments.get(leading);
    List<String> rest = new ArrayList<>(arguments.subList(0, leading));
    rest.addAll(arguments.subList(leading + 1, arguments.size()));
    switch (word) {
      case "-h", "--help", HELP -> {
        return help(arguments.subList(leading + 1, arguments.size()));
      }
      case "-v", "--version" -> {
        return run(find("version"), rest);
      }
      default -> {
        Command command = find(word);
        return command == null ? refuse(null, unknown(word)) : run(command, rest);
      }
    }
  }

  private int help(List<String> arguments) {
    if (arguments.size() > 1) {
      return refuse(null, "unexpected argument '" + arguments.get(1) + "'");
    }
    Command command = arguments.isEmpty() ? null : find(arguments.get(0));
    if (!arguments.isEmpty() && command == null) {
      return refuse(null, unknown(arguments.get(0)));
    }
    out.print(command == null ? overview() : help(command));
    return 0;
  }

  private int run(Command command, List<String> arguments) {
    boolean verbose = arguments.contains("--verbose");
    try {
      CommonOptions options = CommonOptions.parse(arguments, command.commonOptionsComeFirst());
      if (options.help()) {
        out.print(help(command));
        return 0;
      }
      if (options.embedded() && !command.usesCluster()) {
        throw new UsageException("it uses no cluster, so it takes no --embedded");
      }
      return command.run(new CommandContext(out, err, options, environment), options.rest());
    } catch (OutputFailedException e) {
      throw e;
    } catch (UsageException e) {
      return refuse(command, e.getMessage());
    } catch (ConfigException e) {
      trace(e, verbose);
      err.println("crail: " + Printable.line(e.getMessage()));
      return ExitCode.USAGE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("crail " + command.name() + ": interrupted");
      return ExitCode.FAILURE;
    } catch (Exception | AssertionError e) {
      trace(e, verbose);
      err.println("crail " + command.name() + ": " + oneLine(e));
      return ExitCode.FAILURE;
    }
  }

  private void trace(Throwable failure, boolean verbose) {
    if (verbose) {
      failure.printStackTrace(err);
    }
  }

  /** A failure in one line. Operating errors explain themselves, other errors need their type. */
  private static String oneLine(Throwable thrown) {
    Throwable failure = thrown;
    while (failure.getCause() != null
        && (failure instanceof ExecutionException
            || failure instanceof CompletionException
            || failure instanceof UncheckedIOException)) {
      failure = failure.getCause();
    }
    String message = failure.getMessage();
    boolean speaks =
        message != null
            && (failure instanceof CrailException
                || failure.getClass() == IOException.class
                || failure instanceof TimeoutException);
    return Printable.line(speaks ? message : failure + " (--verbose shows where)");
  }

  private int refuse(Command command, String message) {
    String name = command == null ? "crail" : "crail " + command.name();
    err.println(name + ": " + Printable.line(message));
    err.println("Try: " + name + " --help");
    return ExitCode.USAGE;
  }

  /** All commands, in the order of the overview. */
  static List<Command> commands() {
    return COMMANDS;
  }

  /** True when there is a command of this name. */
  static boolean hasCommand(String name) {
    return name.equals(HELP) || find(name) != null;
  }

  private static Command find(String word) {
    for (Command command : COMMANDS) {
      if (command.name().equals(word)) {
        return command;
      }
    }
    return null;
  }

  private static String unknown(String word) {
    if (word.startsWith("-")) {
      String near = Suggestion.of(word, CommonOptions.words());
      return "there is no option '"
          + word
          + "' in front of a command"
          + (near.isEmpty() ? "; options of a command follow it" : near);
    }
    return "there is no command '"
        + word
        + "'"
        + Suggestion.of(word, COMMANDS.stream().map(Command::name).toList());
  }

  private static String help(Command command) {
    return command.help().stripTrailing()
        + "\n\n"
        + Example.text(command.examples())
        + CommonOptions.helpOf(command.usesCluster());
  }

  private static String overview() {
    StringBuilder text = new StringBuilder("Usage: crail <command> [options]\n\nCommands:\n");
    for (Command command : COMMANDS) {
      text.append(String.format(Locale.ROOT, "  %-16s %s%n", command.name(), command.sentence()));
    }
    text.append(
        "\n'crail help <command>' explains a command. Options of every command may also stand");
    text.append(" in front of it.\n\n");
    return text.append(CommonOptions.helpOfAll()).toString();
  }
}
