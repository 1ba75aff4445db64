/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.common.Clock;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * Hosts, connections and time, all in the memory of one thread. Time does not pass while code runs.
 * When a client loop waits, time jumps to the next event, so hours pass in seconds. Two runs with
 * the same seed and the same calls do exactly the same.
 *
 * <p>The bytes of a connection keep their order and arrive once, in pieces cut at random. The test
 * can let connections break or stall, and let hosts fall silent, become slow, pause or die. Not
 * thread-safe: everything on a network, servers included, runs in the thread that created it. Only
 * the clock may be read by any thread.
 *
 * <pre>{@code
 * SimulatedNetwork network = new SimulatedNetwork(seed);
 * ServerEndpoint server = network.transport("namenode").listen("nn", address, service);
 * ClientLoop loop = network.transport("client").newClientLoop("c");
 * }</pre>
 */
public final class SimulatedNetwork {
  /** Most bytes in flight in one direction of a connection; then its sender has to wait. */
  public static final int WINDOW = 1 << 20;

  private static final long START_NANOS = 1_000_000_000L;
  private static final long START_MILLIS = 1_800_000_000_000L;
  private static final int FIRST_FREE_PORT = 20_000;

  /**
   * A planned action.
   *
   * @param host the host where it happens; null for an action of no host, such as the network
   *     itself
   */
  private record Event(long timeNanos, long sequence, String host, Runnable action) {}

  /** Thrown to end the thread that was running at a host that has died. */
  public static final class HostDiedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    HostDiedException(String host) {
      super(host + " has died");
    }
  }

  private record Pair(String from, String to) {}

  private final Thread owner = Thread.currentThread();
  private final Random random;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          (a, b) ->
              a.timeNanos != b.timeNanos
                  ? Long.compare(a.timeNanos, b.timeNanos)
                  : Long.compare(a.sequence, b.sequence));
  private final Map<String, SimulatedServer> servers = new HashMap<>();
  private final List<SimulatedLink> links = new ArrayList<>();
  private final Set<Pair> partitions = new HashSet<>();
  private final Map<String, Long> bandwidths = new HashMap<>();
  // The planned actions of paused hosts.
  private final Map<String, List<Event>> paused = new HashMap<>();
  private final Set<String> dead = new HashSet<>();
  private final List<SimulatedClientLoop> loops = new ArrayList<>();
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return nowNanos;
        }

        @Override
        public long currentTimeMillis() {
          return START_MILLIS + (nowNanos - START_NANOS) / 1_000_000;
        }
      };

  // Written by the one thread. Other threads may read the time.
  private volatile long nowNanos = START_NANOS;
  private long sequence;
  private long trace;
  private long minLatencyNanos = 10_000;
  private long maxLatencyNanos = 50_000;
  private double breakProbability;
  private long broken;
  private int nextPort = FIRST_FREE_PORT;
  private boolean running;
  private boolean drivesIdleLoops;

  /** Creates an empty network. All random choices come from {@code seed}. */
  public SimulatedNetwork(long seed) {
    this.random = new Random(seed);
  }

  /** The virtual clock. */
  public Clock clock() {
    return clock;
  }

  /** The source of all random choices. The test may use it too. */
  public Random random() {
    return random;
  }

  /**
   * The network as a host sees it. A server is found by the text of its host and by its port. That
   * text need not be the name given here, which only matters for partitions and similar faults.
   */
  public Transport transport(String host) {
    return new SimulatedTransport(this, host);
  }

  /** Sets how long bytes are in flight. The time is drawn evenly from this range for each write. */
  public void latency(Duration least, Duration most) {
    if (least.toNanos() < 1 || most.compareTo(least) < 0) {
      throw new IllegalArgumentException("latency from " + least + " to " + most);
    }
    minLatencyNanos = least.toNanos();
    maxLatencyNanos = most.toNanos();
  }

  /** How many writes were lost with their connections. */
  public long broken() {
    return broken;
  }

  /** Sets the probability that a connection breaks instead of delivering a write. */
  public void breakConnections(double probability) {
    breakProbability = probability;
  }

  /** Limits the traffic to and from a host, in bytes a second. 0 removes the limit. */
  public void bandwidth(String host, long bytesPerSecond) {
    if (bytesPerSecond == 0) {
      bandwidths.remove(host);
    } else {
      bandwidths.put(host, bytesPerSecond);
    }
  }

  /**
   * Holds back all bytes between two hosts. Connections stay open, and new ones cannot be made.
   * Bytes that are in flight are held back too.
   */
  public void partition(String a, String b) {
    partitions.add(new Pair(a, b));
    partitions.add(new Pair(b, a));
  }

  /** Ends a partition. The bytes that were held back are delivered. */
  public void heal(String a, String b) {
    partitions.remove(new Pair(a, b));
    partitions.remove(new Pair(b, a));
    List.copyOf(links).forEach(SimulatedLink::healed);
  }

  /** Breaks all connections between two hosts. Both ends learn of it. */
  public void cut(String a, String b) {
    for (SimulatedLink link : List.copyOf(links)) {
      if (link.connects(a, b)) {
        link.breakDown("connection reset");
      }
    }
  }

  /**
   * Lets no more bytes pass on the present connections between two hosts. No end learns of it, and
   * new connections work.
   */
  public void silence(String a, String b) {
    for (SimulatedLink link : List.copyOf(links)) {
      if (link.connects(a, b)) {
        link.fallSilent(b);
      }
    }
  }

  /**
   * Removes a host without notice. Its peers receive nothing more, not even an end of their
   * connections.
   */
  public void crash(String host) {
    servers.values().removeIf(server -> server.host().equals(host));
    for (SimulatedLink link : List.copyOf(links)) {
      link.fallSilent(host);
    }
  }

  /**
   * Stops the present connections between two hosts for a while, as repeated packet loss does. New
   * connections work. The bytes in flight are delivered afterwards, although their sender may have
   * closed the connection and sent them again on another one.
   */
  public void delay(String a, String b, Duration span) {
    for (SimulatedLink link : List.copyOf(links)) {
      if (link.connects(a, b)) {
        link.standStill(span.toNanos());
      }
    }
  }

  /**
   * Pauses a host like a stopped process. Bytes for it wait, and so do its planned actions. Its
   * peers notice nothing else.
   */
  public void pause(String host) {
    if (!dead.contains(host)) {
      paused.computeIfAbsent(host, any -> new ArrayList<>());
    }
  }

  /** Ends a pause. The host continues with its old state, and its clock has jumped. */
  public void resume(String host) {
    List<Event> waiting = paused.remove(host);
    if (waiting != null) {
      // In their order, which the sequence number keeps.
      waiting.forEach(event -> events.add(new Event(nowNanos, event.sequence, host, event.action)));
    }
  }

  /** True while a host is paused. */
  public boolean isPaused(String host) {
    return paused.containsKey(host);
  }

  /**
   * Kills a host as kill -9 does. Nothing happens there any more, and its client loops end without
   * sending anything. A thread that waits in one of them gets a {@link HostDiedException}, and its
   * loop ends with the next call of {@link #bury}.
   *
   * @param silently whether its peers do not learn that their connections have ended
   */
  public void kill(String host, boolean silently) {
    paused.remove(host);
    dead.add(host);
    if (silently) {
      crash(host);
    } else {
      servers.values().removeIf(server -> server.host().equals(host));
      for (SimulatedLink link : List.copyOf(links)) {
        link.endedAt(host);
      }
    }
  }

  /** Ends the client loops of dead hosts. Not called while one of them is driven. */
  public void bury() {
    for (SimulatedClientLoop loop : List.copyOf(loops)) {
      if (dead.contains(loop.host()) && !loop.isDriver()) {
        loop.close();
        loops.remove(loop);
      }
    }
  }

  /** The number of operations of a host's client loops that have begun and not ended. */
  public long outstanding(String host) {
    return loops.stream()
        .filter(loop -> loop.host().equals(host))
        .mapToLong(SimulatedClientLoop::outstandingOrQueued)
        .sum();
  }

  /** True when a host has died and was not revived. */
  public boolean isDead(String host) {
    return dead.contains(host);
  }

  /** Allows new actions at a dead host. Its former planned actions are lost. */
  public void revive(String host) {
    bury();
    events.removeIf(event -> host.equals(event.host));
    dead.remove(host);
  }

  /** A digest of all events: where, when and in which order. */
  public long trace() {
    return trace;
  }

  /**
   * Sets whether client loops check the time even when nothing is outstanding. In a program they
   * do, since a store has a timer for its leases.
   */
  public void driveIdleLoops(boolean drives) {
    drivesIdleLoops = drives;
  }

  boolean drivesIdleLoops() {
    return drivesIdleLoops;
  }

  /** Adds a number to the digest of {@link #trace}. */
  public void note(long what) {
    trace = (trace ^ what) * 0x9E3779B97F4A7C15L;
    trace ^= trace >>> 29;
  }

  /** Runs an action later at a host, unless the host dies before. */
  public void schedule(String host, Duration delay, Runnable action) {
    schedule(host, delay.toNanos(), action);
  }

  /** Runs an action later, for code that has its own thread in a real cluster. */
  public void schedule(Duration delay, Runnable action) {
    schedule(delay.toNanos(), action);
  }

  /** Lets a span of virtual time pass. */
  public void runFor(Duration span) {
    checkThread();
    long end = nowNanos + span.toNanos();
    while (!events.isEmpty() && events.peek().timeNanos <= end) {
      runNext();
    }
    nowNanos = Math.max(nowNanos, end);
  }

  /**
   * Lets a span of virtual time pass in the middle of an action, while nothing else happens. So a
   * thread that gets no processor is simulated. Due events follow.
   */
  public void standStill(Duration span) {
    checkThread();
    nowNanos += span.toNanos();
  }

  /** The number of connections that are open or half open. */
  public int connectionCount() {
    return links.size();
  }

  void schedule(long delayNanos, Runnable action) {
    schedule(null, delayNanos, action);
  }

  void schedule(String host, long delayNanos, Runnable action) {
    checkThread();
    events.add(new Event(nowNanos + Math.max(0, delayNanos), sequence++, host, action));
  }

  /** A poll of a client loop. A host that is paused during the poll gets no processor. */
  void poll(String host, long waitNanos) {
    poll(waitNanos);
    while (!running && isPaused(host)) {
      if (events.isEmpty()) {
        throw new IllegalStateException("nothing lets " + host + " go on");
      }
      runNext();
    }
    if (!running && dead.contains(host)) {
      throw new HostDiedException(host);
    }
  }

  void add(SimulatedClientLoop loop) {
    loops.add(loop);
  }

  void remove(SimulatedClientLoop loop) {
    loops.remove(loop);
  }

  /** Runs due events, or waits for the next one. */
  private void poll(long waitNanos) {
    checkThread();
    if (running) {
      // This loop is driven from within an event. The outermost poll runs the events.
      return;
    }
    if (waitNanos < 0) {
      while (!events.isEmpty() && events.peek().timeNanos <= nowNanos) {
        runNext();
      }
    } else if (!events.isEmpty() && events.peek().timeNanos <= nowNanos + waitNanos) {
      runNext();
    } else {
      nowNanos = nowNanos + waitNanos;
    }
  }

  private void runNext() {
    if (running) {
      throw new IllegalStateException("an event must not let time pass");
    }
    Event event = events.poll();
    nowNanos = Math.max(nowNanos, event.timeNanos);
    List<Event> waiting = paused.get(event.host);
    if (waiting != null) {
      waiting.add(event);
      return;
    }
    if (dead.contains(event.host)) {
      return;
    }
    note(event.timeNanos);
    note(event.host == null ? 1 : event.host.hashCode());
    running = true;
    try {
      event.action.run();
    } finally {
      running = false;
    }
  }

  SimulatedServer bind(SimulatedServer server, InetSocketAddress wanted) throws IOException {
    checkThread();
    int port = wanted.getPort() == 0 ? nextPort++ : wanted.getPort();
    InetSocketAddress address = InetSocketAddress.createUnresolved(wanted.getHostString(), port);
    server.bound(address);
    if (servers.putIfAbsent(key(address), server) != null) {
      throw new IOException("cannot listen on " + address + ": address in use");
    }
    return server;
  }

  void unbind(SimulatedServer server) {
    servers.remove(key(server.address()), server);
  }

  /** The server at an address, or null. */
  SimulatedServer find(InetSocketAddress address) {
    return servers.get(key(address));
  }

  void add(SimulatedLink link) {
    links.add(link);
  }

  void remove(SimulatedLink link) {
    links.remove(link);
  }

  List<SimulatedLink> links() {
    return List.copyOf(links);
  }

  boolean isPartitioned(String from, String to) {
    return partitions.contains(new Pair(from, to));
  }

  /** The latency of the next bytes. */
  long latencyNanos() {
    return minLatencyNanos + (long) (random.nextDouble() * (maxLatencyNanos - minLatencyNanos));
  }

  /** The time that the slower of two hosts needs to transmit some bytes. */
  long transmissionNanos(String from, String to, int bytes) {
    long slower = Math.min(bandwidth(from), bandwidth(to));
    return (long) (bytes * 1e9 / slower);
  }

  private long bandwidth(String host) {
    return bandwidths.getOrDefault(host, Long.MAX_VALUE);
  }

  /** Whether the next write breaks its connection. */
  boolean breaksNext() {
    boolean breaks = breakProbability > 0 && random.nextDouble() < breakProbability;
    broken += breaks ? 1 : 0;
    return breaks;
  }

  private void checkThread() {
    if (Thread.currentThread() != owner) {
      throw new IllegalStateException("a simulated network lives in one thread, " + owner);
    }
  }

  private static String key(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }
}
