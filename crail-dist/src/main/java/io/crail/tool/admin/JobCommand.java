/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.job.CrailJob;
import io.crail.job.JobLimits;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.commons.cli.CommandLine;

/** Runs a command whose data end with it. */
public final class JobCommand extends OptionsCommand {
  /** What the command finds its directory by. */
  static final String VARIABLE = "CRAIL_JOB_ROOT";

  private static final String NAME = "n";
  private static final String LEASE = "l";
  private static final String CLASS = "c";
  private static final String BYTES = "b";
  private static final String NAMES = "m";

  /** The exit code of shells for a command that cannot be run. */
  private static final int CANNOT_RUN = 127;

  /** The time that the command is given to end after a signal. */
  private static final long END_SECONDS = 10;

  /** Declares its options. */
  public JobCommand() {
    super(
        "job",
        "runs a command with a directory for its data, which ends with it",
        "<command> [argument...]",
        """
        The directory is in /jobs, and the command finds its path in $CRAIL_JOB_ROOT. It is removed
        when the command ends. If this process is killed, the command runs on, and the directory stays
        for the time of its lease. The exit code is that of the command, or 127 if it cannot be run.
        With --bytes the data go to the fastest storage class that has so much free space now, or, if
        none has, to the one that has most; --class chooses another one. The class is that of the
        directory: data have it if they are made with the class of the parent, as commands do.
        Options of this command, and those of every command, stand in front of the command to run.
        """,
        valued(NAME, "name", "name", "a part of the directory's name; by default the command's"),
        valued(
            LEASE,
            "lease",
            "time",
            "how long the data stay if this process is killed; "
                + CrailJob.LEASE.toSeconds()
                + "s by default"),
        valued(CLASS, "class", "class", "storage class of the data, from 0"),
        valued(BYTES, "bytes", "size", "the most bytes of space, such as 10g, or none"),
        valued(NAMES, "names", "number", "the most names, or none"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail job ./etl.sh", "$CRAIL_JOB_ROOT is there while the script runs"),
        new Example(
            "crail job --lease 10m --class 1 ./etl.sh",
            "the data stay for ten minutes if this dies"),
        new Example(
            "crail job --bytes 10g ./etl.sh", "at most 10 GiB, where there is room for them"));
  }

  @Override
  public boolean commonOptionsComeFirst() {
    return true;
  }

  @Override
  protected boolean stopsAtOperand() {
    return true;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    List<String> command = line.getArgList();
    if (command.isEmpty()) {
      throw new UsageException("names no command to run");
    }
    if (command.get(0).startsWith("-")) {
      throw new UsageException("unknown option '" + command.get(0) + "'");
    }
    if (context.options().embedded()) {
      throw new UsageException("a command cannot reach a cluster in this process");
    }
    Duration lease =
        line.hasOption(LEASE)
            ? time(line, LEASE, CrailJob.LEAST_LEASE, CrailJob.MOST_LEASE)
            : CrailJob.LEASE;
    JobLimits limits = new JobLimits(limit(line, BYTES, true), limit(line, NAMES, false));
    CrailStorageClass given =
        line.hasOption(CLASS) ? CrailStorageClass.get(number(line, CLASS, 0, 255)) : null;
    Path program = Path.of(command.get(0)).getFileName();
    String name = line.getOptionValue(NAME, program == null ? "job" : program.toString());
    try (ShutdownGate gate = ShutdownGate.open();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(context.configuration()))) {
      CrailStorageClass storageClass =
          given == null ? storageClassFor(context, store, limits) : given;
      CrailJob job = CrailJob.begin(store, name, lease, storageClass, limits);
      int code = execute(context, gate, command, job.root());
      try {
        job.close();
      } catch (ExecutionException e) {
        context
            .err()
            .println("crail job: cannot remove " + job.root() + ": " + e.getCause().getMessage());
      }
      if (job.isLost()) {
        context.err().println("crail job: " + job.root() + " has ended before the command");
        return code == 0 ? ExitCode.FAILURE : code;
      }
      return code;
    }
  }

  private static CrailStorageClass storageClassFor(
      CommandContext context, CrailStore store, JobLimits limits) throws Exception {
    if (limits.bytes() == JobLimits.NONE) {
      return CrailStorageClass.DEFAULT;
    }
    CrailStorageClass found = CrailJob.storageClassFor(store, limits.bytes());
    context.err().println("crail job: the data go to storage class " + found);
    return found;
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
      return CANNOT_RUN;
    }
    gate.onAsked(() -> end(process));
    while (!process.waitFor(1, TimeUnit.SECONDS)) {
      if (gate.isAsked() && !process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    }
    return process.exitValue();
  }

  /** Also what the command has started: it may use the directory too. */
  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
  }
}
