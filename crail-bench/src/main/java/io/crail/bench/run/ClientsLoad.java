/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Other processes that measure at the same time, each a {@link BenchClient}. They are prepared one
 * after the other and begin together. The time is taken here: from the cue to begin to the end of
 * the last process. The first failure ends all. Used by one thread.
 */
public final class ClientsLoad<T extends LoadType> implements Load<T> {
  private static final long END_SECONDS = 15;

  private final PrintStream out;
  private final BlockingQueue<ClientProcess.Event> events = new LinkedBlockingQueue<>();
  private final List<ClientProcess> clients = new ArrayList<>();

  /**
   * Starts the processes.
   *
   * @param arguments the arguments of the command, with the seed
   */
  ClientsLoad(Bench.Start start, int count, List<String> arguments, BenchContext context)
      throws IOException {
    this.out = context.out();
    ProcessBuilder builder = new ProcessBuilder(command(start.main()));
    try {
      for (int i = 0; i < count; i++) {
        ClientProcess client = new ClientProcess(i, builder.start(), events, context.err());
        clients.add(client);
        client.order(
            new ParentLink.Orders(
                i, context.embedded(), arguments, start.configuration().texts(), start.more()));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  /** The command that starts this JVM with another class. */
  public static List<String> command(Class<?> main) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // Only one JVM can listen for a debugger, and the processes have no terminal.
      if (!flag.startsWith("-agentlib:jdwp") && !flag.startsWith("-Dcrail.terminal")) {
        command.add(flag);
      }
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    return command;
  }

  @Override
  public Figures experiment(BenchOptions<T> options) throws Exception {
    if (options.warmUp() > 0) {
      out.println("warm-up, operations " + options.warmUp());
    }
    await(client -> client.waitsFor() == Cues.Cue.PREPARE);
    for (ClientProcess client : clients) {
      client.cue(Cues.Cue.PREPARE);
      await(any -> any != client || any.waitsFor() == Cues.Cue.RUN);
    }
    out.println("starting benchmark...");
    cueAll(Cues.Cue.RUN);
    await(client -> client.waitsFor() == Cues.Cue.GO);
    long begin = System.nanoTime();
    cueAll(Cues.Cue.GO);
    await(client -> client.waitsFor() == Cues.Cue.CLOSE);
    long nanos = 0;
    List<Figures> parts = new ArrayList<>();
    for (ClientProcess client : clients) {
      nanos = Math.max(nanos, client.endedNanos() - begin);
      parts.add(client.figures());
    }
    for (int i = clients.size() - 1; i >= 0; i--) {
      ClientProcess client = clients.get(i);
      client.cue(Cues.Cue.CLOSE);
      await(any -> any != client || any.waitsFor() != null);
    }
    return Figures.together(parts, nanos);
  }

  private void cueAll(Cues.Cue cue) throws BenchException {
    for (ClientProcess client : clients) {
      client.cue(cue);
    }
  }

  /** Waits without a limit until all clients have reached a state. */
  private void await(Predicate<ClientProcess> there) throws BenchException, InterruptedException {
    while (!clients.stream().allMatch(there)) {
      ClientProcess.Event event = events.take();
      event.client().take(event);
    }
  }

  /** Ends all processes: those that are done by a cue, the rest by the end of their input. */
  @Override
  public void close() {
    clients.forEach(ClientProcess::letEnd);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    boolean interrupted = Thread.interrupted();
    for (ClientProcess client : clients) {
      interrupted |= client.awaitEnd(deadline);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
