/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.conf.CrailConfiguration;
import io.crail.job.CrailJob;
import io.crail.tool.command.CommandCluster;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.ShutdownGate;
import io.crail.tool.command.UsageException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.commons.cli.CommandLine;

/** Runs a command whose data end with it. */
public final class JobCommand extends OptionsCommand {
  /** What the command finds its directory by. */
  static final String VARIABLE = "CRAIL_JOB_ROOT";

  private static final String NAME = "n";
  private static final String LEASE = "l";
  private static final String CLASS = "c";

  /** How long the command has to end after a signal. */
  private static final long END_SECONDS = 10;

  /** Declares its options. */
  public JobCommand() {
    super(
        "job",
        "runs a command with a directory for its data, which ends with it",
        "[--] <command> [argument...]",
        """
        The directory is in /jobs, and the command finds its path in $CRAIL_JOB_ROOT. It is removed
        when the command ends. If this process dies, it stays for the time of its lease. The exit code
        is that of the command.
        """,
        valued(NAME, "name", "name", "a part of the directory's name; by default the command's"),
        valued(
            LEASE, "lease", "time", "how long the data stay if this process dies; 60s by default"),
        valued(CLASS, "class", "class", "storage class of the data, from 0"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail job ./etl.sh", "$CRAIL_JOB_ROOT is there while the script runs"),
        new Example(
            "crail job --lease 10m --class 1 -- ./etl.sh --fast",
            "options of the script follow --"));
  }

  @Override
  protected String hint(List<String> arguments) {
    return arguments.contains("--") ? "" : "options of the command to run have to follow --";
  }

  private static Duration lease(CommandLine line) throws UsageException {
    String text = line.getOptionValue(LEASE);
    if (text == null) {
      return CrailJob.LEASE;
    }
    String wrong = "option -" + LEASE + " has the bad value '" + text + "': ";
    try {
      Duration lease = ConfigType.duration(DurationUnit.SECONDS).parse(text);
      if (lease.compareTo(CrailJob.LEAST_LEASE) < 0) {
        throw new UsageException(
            wrong + "must be at least " + CrailJob.LEAST_LEASE.toSeconds() + "s");
      }
      return lease;
    } catch (IllegalArgumentException e) {
      throw new UsageException(wrong + e.getMessage());
    }
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    List<String> command = line.getArgList();
    if (command.isEmpty()) {
      throw new UsageException("names no command to run");
    }
    Duration lease = lease(line);
    CrailStorageClass storageClass =
        line.hasOption(CLASS)
            ? CrailStorageClass.get(number(line, CLASS, 0, 255))
            : CrailStorageClass.DEFAULT;
    Path program = Path.of(command.get(0)).getFileName();
    String name = line.getOptionValue(NAME, program == null ? "job" : program.toString());
    try (ShutdownGate gate = ShutdownGate.open();
        CommandCluster cluster = new CommandCluster(context);
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.openConfigured()));
        CrailJob job = CrailJob.begin(store, name, lease, storageClass)) {
      int code = execute(context, gate, command, job.root());
      if (job.isLost()) {
        context.err().println("crail job: " + job.root() + " has ended before the command");
        return code == 0 ? ExitCode.FAILURE : code;
      }
      return code;
    }
  }

  private static int execute(
      CommandContext context, ShutdownGate gate, List<String> command, String root)
      throws InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().put(VARIABLE, root);
    context.out().flush();
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      context.err().println("crail job: " + e.getMessage());
      return ExitCode.FAILURE;
    }
    gate.onAsked(process::destroy);
    while (!process.waitFor(1, TimeUnit.SECONDS)) {
      if (gate.isAsked() && !process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
    return process.exitValue();
  }
}
