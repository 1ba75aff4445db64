/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.common.NamenodeAddresses;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.testkit.model.NameHistory;
import io.crail.testkit.model.NameHistory.Kind;
import io.crail.testkit.model.NameHistory.Step;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Clients of a namenode that has several peers. Some make, remove and look up a few names, and find
 * the peer that serves by themselves. Each other one looks up the same names at one peer. At the
 * end all answers are judged.
 *
 * <p>Commands are files in a directory; each goes when it is done: {@code quiet} and {@code busy}
 * let those that change something rest and go on, {@code ask-<peer>} sends many lookups to a peer
 * and waits for none, {@code round} takes other names, {@code end} ends. The file {@code status}
 * says how things are. Arguments: the configuration, that directory, and a seed.
 */
final class StandbyLoad {
  private static final ToLongFunction<Lookup.Response> NODE = found -> found.node().id();
  private static final int WRITERS = 4;
  private static final int NAMES = 4;
  private static final int ASKED = 256;
  private static final long POLL_MILLIS = 5;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final NameHistory history = new NameHistory();
  private final Configuration conf;
  private final Path commands;
  private final long seed;
  private final Transport transport;
  private final NamenodeAddresses addresses;
  private final List<InetSocketAddress> peers;
  private final AtomicInteger[] served;
  private final AtomicInteger done = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();
  private final AtomicInteger resting = new AtomicInteger();
  private final AtomicLong lastNanos = new AtomicLong(System.nanoTime());
  private final AtomicLong longestNanos = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private final List<NameNodeClient> asking = new ArrayList<>();
  private volatile boolean isQuiet;
  private volatile boolean isOver;
  private volatile int round;
  private volatile String failure = "";

  private StandbyLoad(Path directory, Path commands, long seed) throws IOException {
    this.commands = commands;
    this.seed = seed;
    this.conf =
        Configuration.builder().load(directory.resolve("crail-site.conf"), name -> null).build();
    this.transport = TransportProvider.open(conf);
    this.addresses = conf.get(ClusterKeys.NAMENODE_ADDRESS);
    this.peers = addresses.peers(0);
    this.served = new AtomicInteger[peers.size()];
    for (int i = 0; i < served.length; i++) {
      served[i] = new AtomicInteger();
    }
  }

  /** Runs until the command to end. */
  public static void main(String[] args) throws Exception {
    new StandbyLoad(Path.of(args[0]), Path.of(args[1]), Long.parseLong(args[2])).run();
  }

  @FunctionalInterface
  private interface Work {
    void run(NameNodeClient client) throws Exception;
  }

  private void run() throws Exception {
    ClientLoop loop = transport.newClientLoop("asking");
    for (int i = 0; i < peers.size(); i++) {
      int peer = i;
      asking.add(client(loop, only(peer)));
      inBackground("probe-" + peer, only(peer), client -> probe(client, peer));
    }
    for (int i = 0; i < WRITERS; i++) {
      Random random = new Random(seed + i);
      inBackground("writer-" + i, addresses, client -> write(client, random));
    }
    try {
      while (!isOver) {
        obey();
        report();
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
      for (Thread thread : threads) {
        thread.join();
      }
    } finally {
      asking.forEach(NameNodeClient::close);
      loop.close();
      transport.close();
    }
    List<String> violations = history.violations();
    violations.forEach(System.out::println);
    System.out.printf(
        "judged %d steps, %d violations, %d lost%n", history.size(), violations.size(), lost.get());
  }

  private NamenodeAddresses only(int peer) {
    return NamenodeAddresses.of(List.of(peers.get(peer)));
  }

  private NameNodeClient client(ClientLoop loop, NamenodeAddresses to) {
    return new NameNodeClient(
        loop,
        to,
        NameNodeClient.Identity.ofClient(conf),
        transport.peerOptions(),
        to.peers(0).size() == 1 ? PROBE_NANOS : PATIENCE_NANOS);
  }

  private void inBackground(String name, NamenodeAddresses to, Work work) {
    Thread thread =
        new Thread(
            () -> {
              ClientLoop loop = transport.newClientLoop(name);
              NameNodeClient client = client(loop, to);
              try {
                work.run(client);
              } catch (Throwable e) {
                failure = name + ": " + e;
                e.printStackTrace();
              } finally {
                client.close();
                loop.close();
              }
            },
            name);
    thread.start();
    threads.add(thread);
  }

  private Utf8 name(Random random) {
    return Utf8.of("/" + round + "-" + random.nextInt(NAMES));
  }

  /** Changes names, one after the other. */
  private void write(NameNodeClient client, Random random) throws Exception {
    while (!isOver) {
      if (isQuiet) {
        resting.incrementAndGet();
        while (isQuiet && !isOver) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
        resting.decrementAndGet();
      }
      Utf8 name = name(random);
      switch (random.nextInt(3)) {
        case 0 -> make(client, name);
        case 1 -> remove(client, name);
        default -> end(begin(Kind.LOOKUP, name), lookup(client, name), NODE);
      }
    }
  }

  private Step begin(Kind kind, Utf8 name) {
    return history.begin(kind, name.toString(), System.nanoTime());
  }

  private void make(NameNodeClient client, Utf8 name) throws InterruptedException {
    Step step = begin(Kind.CREATE, name);
    Create.Request request =
        new Create.Request(
            NodeType.DIRECTORY, true, false, false, 0755, Create.PARENT_CLASS, 0, name, Utf8.EMPTY);
    end(step, client.callAt(0, NameNodeOperations.CREATE, request), made -> made.node().id());
  }

  private void remove(NameNodeClient client, Utf8 name) throws InterruptedException {
    Step step = begin(Kind.REMOVE, name);
    Remove.Request request = new Remove.Request(false, 0, name);
    end(step, client.callAt(0, NameNodeOperations.REMOVE, request), gone -> gone.node().id());
  }

  private static OperationCall<?, Lookup.Response> lookup(NameNodeClient client, Utf8 name) {
    return client.callAt(0, NameNodeOperations.LOOKUP, new Lookup.Request(name));
  }

  /** Waits for an answer to a client that any peer may serve. */
  private <R> void end(Step step, OperationCall<?, R> call, ToLongFunction<R> node)
      throws InterruptedException {
    if (!isAnswered(step, call, node)) {
      lost.incrementAndGet();
      return;
    }
    done.incrementAndGet();
    long now = System.nanoTime();
    long before = lastNanos.getAndSet(now);
    longestNanos.accumulateAndGet(now - before, Math::max);
  }

  /** Waits for an answer, and notes it. */
  private <R> boolean isAnswered(Step step, OperationCall<?, R> call, ToLongFunction<R> node)
      throws InterruptedException {
    try {
      history.done(step, node.applyAsLong(call.join()), System.nanoTime());
      return true;
    } catch (CrailException e) {
      if (e.code() == ErrorCode.NODE_EXISTS || e.code() == ErrorCode.NODE_NOT_FOUND) {
        history.refused(step, System.nanoTime());
        return true;
      }
      history.lost(step);
      return false;
    }
  }

  /** Looks up names at one peer, for as long as it answers. */
  private void probe(NameNodeClient client, int peer) throws Exception {
    Random random = new Random(seed + WRITERS + peer);
    while (!isOver) {
      Utf8 name = name(random);
      if (isAnswered(begin(Kind.LOOKUP, name), lookup(client, name), NODE)) {
        served[peer].incrementAndGet();
      } else {
        TimeUnit.MILLISECONDS.sleep(1);
      }
    }
  }

  /** Sends lookups to a peer that may be stopped, and notes the answers when they come. */
  private void ask(int peer) {
    Random random = new Random(seed + round);
    List<Asked> asked = new ArrayList<>();
    for (int i = 0; i < ASKED; i++) {
      Utf8 name = name(random);
      asked.add(new Asked(begin(Kind.LOOKUP, name), lookup(asking.get(peer), name)));
    }
    Thread thread =
        new Thread(
            () -> {
              try {
                for (Asked each : asked) {
                  isAnswered(each.step, each.call, NODE);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "asked-" + peer);
    thread.start();
    threads.add(thread);
  }

  private record Asked(Step step, OperationCall<?, Lookup.Response> call) {}

  private void obey() throws IOException, InterruptedException {
    List<Path> files;
    try (Stream<Path> all = Files.list(commands)) {
      files = all.filter(file -> !file.getFileName().toString().startsWith("status")).toList();
    }
    for (Path file : files) {
      String command = file.getFileName().toString();
      if (command.startsWith("ask-")) {
        ask(Integer.parseInt(command.substring(4)));
      } else if (command.equals("quiet")) {
        isQuiet = true;
        while (resting.get() < WRITERS && failure.isEmpty()) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
      } else if (command.equals("busy")) {
        lastNanos.set(System.nanoTime());
        isQuiet = false;
      } else if (command.equals("round")) {
        round++;
        longestNanos.set(0);
      } else {
        isOver = true;
      }
      Files.delete(file);
    }
  }

  /** Writes how things are: all counts so far, and the longest pause of this round. */
  private void report() throws IOException {
    String counts =
        Arrays.stream(served).map(AtomicInteger::toString).collect(Collectors.joining(","));
    Path part = commands.resolve("status-part");
    Files.writeString(
        part, done + ";" + counts + ";" + longestNanos.get() / 1_000_000 + ";" + failure);
    Files.move(part, commands.resolve("status"), StandardCopyOption.ATOMIC_MOVE);
  }
}
