/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaDevices;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listening server: threads with disjoint sets of connections. Thread-safe. */
final class DarpcServer
    implements Transport.ServerEndpoint, RdmaListener.Acceptor, PollingThread.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(DarpcServer.class);
  private static final long CLOSE_NANOS = 5_000_000_000L;

  private final String name;
  private final Service service;
  private final DarpcSettings settings;
  private final Clock clock = Clock.SYSTEM;
  private final RateLimitedLog droppedLog = new RateLimitedLog(LOG, clock);
  private final RdmaDevices devices = new RdmaDevices();
  private final List<PollingThread> threads = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile RdmaListener listener;
  private int next;

  /** Removed devices that are about to be released. Used in the listener's thread. */
  private final Set<RdmaDevice> releasing = new HashSet<>();

  private DarpcServer(String name, Service service, DarpcSettings settings) {
    this.name = name.startsWith("crail-") ? name.substring("crail-".length()) : name;
    this.service = service;
    this.settings = settings;
  }

  /** Binds and begins to serve. */
  static DarpcServer listen(
      String name, InetSocketAddress address, Service service, DarpcSettings settings)
      throws IOException {
    checkProcessors(settings.processors());
    DarpcServer server = new DarpcServer(name, service, settings);
    try {
      server.open(address);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  private static void checkProcessors(List<Integer> processors) throws VerbsException {
    long[] mask = Verbs.affinity();
    for (int processor : processors) {
      int word = processor / Long.SIZE;
      if (word >= mask.length || (mask[word] & 1L << processor) == 0) {
        throw new ConfigException(
            "key '"
                + DarpcKeys.AFFINITY.name()
                + "' has the processor "
                + processor
                + ", which this process does not have or may not use");
      }
    }
  }

  private void open(InetSocketAddress address) throws IOException {
    List<Integer> processors = settings.processors();
    if (processors.isEmpty()) {
      int available = Runtime.getRuntime().availableProcessors();
      int first =
          address.getPort() == 0 ? ThreadLocalRandom.current().nextInt(1024) : address.getPort();
      processors = processors(Verbs.affinity(), available, first);
    }
    long mostHeldBytes = HeldAnswers.mostBytes(processors.size());
    for (int i = 0; i < processors.size(); i++) {
      int processor = settings.pinned() ? processors.get(i) : -1;
      threads.add(
          new PollingThread(this, "crail-" + name + "-" + i, devices, processor, mostHeldBytes));
    }
    String warning = settings.memoryWarning(Verbs.memlockLimitBytes(), threads.size());
    if (!warning.isEmpty()) {
      LOG.warn("{}: {}", name, warning);
    }
    threads.forEach(PollingThread::start);
    listener =
        RdmaListener.listen(name, address, settings.backlog(), settings.rdma().ackTimeout(), this);
    if (listener.context() != 0) {
      // Opened now, so that its problems are reported at the start and not when the first client
      // connects.
      devices.of(listener.context(), listener.deviceName(), listener.address());
    }
  }

  /**
   * Chooses processors of a mask in turn. Several servers on one host each begin with a different
   * processor, since the first processors get the first connections.
   *
   * @param most the most processors; a container may have fewer than the mask shows
   */
  static List<Integer> processors(long[] mask, int most, int first) {
    List<Integer> all = BitSet.valueOf(mask).stream().boxed().toList();
    List<Integer> chosen = new ArrayList<>();
    for (int i = 0; i < Math.min(most, all.size()); i++) {
      chosen.add(all.get((first + i) % all.size()));
    }
    return chosen;
  }

  @Override
  public void requested(RdmaListener.Request request) {
    if (closed.get()) {
      request.reject(null);
      return;
    }
    Greeting greeting;
    try {
      greeting = Greeting.decode(request.privateData());
    } catch (CrailException e) {
      refuse(request, e.getMessage());
      return;
    }
    PollingThread thread = leastLoaded();
    if (thread.load().get() >= settings.clusterSize()) {
      refuse(
          request, "there are " + settings.clusterSize() * threads.size() + " connections already");
      return;
    }
    thread.load().incrementAndGet();
    thread.accept(request, greeting);
  }

  private void refuse(RdmaListener.Request request, String why) {
    dropped(Addresses.text(request.peer()), why);
    request.reject(Greeting.refusal(why));
  }

  @Override
  public void deviceRemoved(long context) {
    devices.deviceRemoved(context);
  }

  /**
   * Releases removed devices. Each thread releases its part; after the last one, the listener's
   * thread releases the device itself.
   */
  @Override
  public void tick(long nowNanos) {
    RdmaListener started = listener;
    if (started == null) {
      // The listener's thread may run before the starting thread has set the field.
      return;
    }
    List<RdmaDevice> removed = devices.removed();
    for (int i = 0; i < removed.size(); i++) {
      RdmaDevice device = removed.get(i);
      if (releasing.add(device)) {
        if (started.context() == 0) {
          // Otherwise the listener has logged this.
          LOG.error("{}: the device {} was removed, and its connections end", name, device);
        }
        AtomicInteger left = new AtomicInteger(threads.size());
        Runnable released =
            () -> {
              if (left.decrementAndGet() == 0) {
                started.execute(() -> released(device));
              }
            };
        threads.forEach(thread -> thread.release(device, released));
      }
    }
  }

  /** Runs in the listener's thread, after all connections of the device have ended. */
  private void released(RdmaDevice device) {
    releasing.remove(device);
    devices.release(device);
  }

  private PollingThread leastLoaded() {
    // Begins after the thread that was chosen last, so that threads with equal load take turns.
    PollingThread least = threads.get(next);
    int chosen = next;
    for (int i = 1; i < threads.size(); i++) {
      int at = (next + i) % threads.size();
      if (threads.get(at).load().get() < least.load().get()) {
        least = threads.get(at);
        chosen = at;
      }
    }
    next = (chosen + 1) % threads.size();
    return least;
  }

  @Override
  public InetSocketAddress address() {
    return listener.address();
  }

  @Override
  public Map<String, Long> statistics() {
    Map<String, Long> statistics = new LinkedHashMap<>();
    statistics.put("connections", threads.stream().mapToLong(thread -> thread.load().get()).sum());
    statistics.put(
        "waiting-connections",
        threads.stream().mapToLong(thread -> thread.turns().waitingCount()).sum());
    statistics.put(
        ConnectionScheduler.WAITED,
        threads.stream().mapToLong(thread -> thread.turns().waitedNanos()).sum());
    HeldAnswers.addStatistics(statistics, threads.stream().map(PollingThread::answers).toList());
    return statistics;
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    for (PollingThread thread : threads) {
      if (thread.thread() == Thread.currentThread()) {
        // The service closes its own server, so this thread must return before anything can end.
        Threads.daemon("crail-" + name + "-end", this::end).start();
        return;
      }
    }
    end();
  }

  /** Closes the connections first, then the resources that their ends need. */
  private void end() {
    threads.forEach(PollingThread::close);
    long deadlineNanos = System.nanoTime() + CLOSE_NANOS;
    boolean interrupted = false;
    for (PollingThread thread : threads) {
      interrupted |= await(thread.thread(), deadlineNanos);
    }
    if (listener != null) {
      listener.close();
    }
    devices.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean await(Thread thread, long deadlineNanos) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      long leftMillis = (deadlineNanos - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        LOG.warn("server {}: {} did not end in time", name, thread.getName());
        break;
      }
      try {
        thread.join(leftMillis);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  @Override
  public Service service() {
    return service;
  }

  @Override
  public Clock clock() {
    return clock;
  }

  @Override
  public DarpcSettings settings() {
    return settings;
  }

  @Override
  public void dropped(String peer, String why) {
    droppedLog.warn(name + ": closed the connection of " + peer + ": " + why);
  }

  @Override
  public void failed(String peer, Throwable cause) {
    LOG.error("{}: a request of {} failed", name, peer, cause);
  }
}
