/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.common.Addresses;
import io.crail.common.Threads;
import io.crail.verbs.Availability;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listening id, and the thread that takes its events and those of all connections accepted from
 * it. Only this thread destroys ids. So an event never belongs to another connection with the same
 * id. Thread-safe.
 */
public final class RdmaListener implements AutoCloseable {
  /** Decides whether a peer may connect. */
  public interface Acceptor {
    /** Called in the listener's thread. Answers with the request's methods, now or soon. */
    void requested(Request request);

    /** Called in the listener's thread, several times a second. */
    default void tick(long nowNanos) {}

    /**
     * Called in the listener's thread when a device was removed on which it listened or had
     * connections.
     *
     * @param context the handle of the device's context
     */
    default void deviceRemoved(long context) {}

    /** Whether to listen again after the device was removed and is back. */
    default boolean listensAgain() {
      return true;
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(RdmaListener.class);
  private static final int TICK_MILLIS = 100;
  private static final long ANSWER_NANOS = 10_000_000_000L;
  private static final long CLOSE_MILLIS = 5_000;

  /** Pause between two attempts to listen again. */
  private static final long AGAIN_NANOS = 1_000_000_000L;

  /**
   * After the event of a removal, the kernel takes its entry away within this number of seconds.
   */
  private static final int CLOSINGS = 60;

  private final String name;
  private final Acceptor acceptor;
  private final int backlog;
  private final int ackTimeout;
  private final long channel;
  private final int wakeup;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Object wakeupLock = new Object();
  private boolean wakeupDestroyed;
  private InetSocketAddress address;
  private long context;
  private String deviceName;

  // Used by the listener's thread.
  private final CmEvent event = new CmEvent();
  private final Map<Long, Request> requests = new HashMap<>();
  private long listenId;
  private long againNanos;
  private long entry = -1;
  private int closingsLeft;
  private long nextClosingNanos;

  private RdmaListener(String name, Acceptor acceptor, int backlog, int ackTimeout)
      throws VerbsException {
    this.name = name;
    this.acceptor = acceptor;
    this.backlog = backlog;
    this.ackTimeout = ackTimeout;
    this.wakeup = Verbs.createWakeup();
    long created = 0;
    try {
      created = Verbs.createEventChannel();
    } finally {
      if (created == 0) {
        Verbs.destroyWakeup(wakeup);
      }
    }
    this.channel = created;
    this.thread = Threads.daemon("crail-" + name + "-listener", this::run);
  }

  /**
   * Begins to listen.
   *
   * @param name part of the thread's name
   * @param address the wildcard address means all devices; port 0 means any free port
   * @param backlog requests that may wait for an answer
   * @param ackTimeout exponent of the time for an acknowledgement, see {@link RdmaKeys#ACK_TIMEOUT}
   * @throws IOException that names the address, and the reason
   */
  public static RdmaListener listen(
      String name, InetSocketAddress address, int backlog, int ackTimeout, Acceptor acceptor)
      throws IOException {
    String where = "cannot listen on " + Addresses.text(address) + " with RDMA: ";
    Availability availability = Availability.check();
    if (!availability.usable()) {
      throw new RdmaException(where + availability.problem());
    }
    InetSocketAddress resolved =
        address.isUnresolved()
            ? new InetSocketAddress(address.getHostString(), address.getPort())
            : address;
    if (resolved.isUnresolved()) {
      throw new RdmaException(where + "unknown host");
    }
    RdmaListener listener = new RdmaListener(name, acceptor, backlog, ackTimeout);
    try {
      listener.listenNow(resolved);
    } catch (IOException e) {
      listener.destroy();
      throw new RdmaException(where + e.getMessage(), e);
    }
    listener.address = Verbs.localAddress(listener.listenId);
    listener.context = Verbs.context(listener.listenId);
    listener.deviceName = Verbs.deviceOf(listener.listenId);
    listener.thread.start();
    return listener;
  }

  private void listenNow(InetSocketAddress where) throws IOException {
    listenId = Verbs.createId(channel);
    Verbs.bind(listenId, where);
    Verbs.listen(listenId, backlog);
    if (!where.getAddress().isAnyLocalAddress() && Verbs.context(listenId) == 0) {
      throw new RdmaException("no RDMA device has this address");
    }
    long opened = Verbs.context(listenId);
    entry = opened == 0 ? -1 : Verbs.entryOf(opened);
  }

  /** The address, with the actual port. */
  public InetSocketAddress address() {
    return address;
  }

  /** The handle of the device's context at the start; 0 for the wildcard address. */
  public long context() {
    return context;
  }

  /** The name of the device; null for the wildcard address. */
  public String deviceName() {
    return deviceName;
  }

  /** Runs a task in the listener's thread. When the thread has ended, the task does not run. */
  public void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  private void wake() {
    // Not after the wake-up was destroyed, since its descriptor may then belong to another file.
    synchronized (wakeupLock) {
      if (!wakeupDestroyed) {
        Verbs.wake(wakeup);
      }
    }
  }

  /**
   * Stops listening and ends the thread. The queue pairs of accepted connections must have been
   * closed before, by their threads.
   */
  @Override
  public void close() {
    if (!closing.compareAndSet(false, true)) {
      return;
    }
    wake();
    boolean interrupted = false;
    long deadline = System.nanoTime() + CLOSE_MILLIS * 1_000_000;
    while (thread.isAlive() && thread != Thread.currentThread()) {
      long leftMillis = (deadline - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        LOG.warn("the listener of {} did not end within {} ms", name, CLOSE_MILLIS);
        break;
      }
      try {
        thread.join(leftMillis);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closing.get()) {
        int ready = Verbs.await(channel, 0, wakeup, TICK_MILLIS);
        if (ready < 0 && ready != Verbs.TIMED_OUT) {
          throw new IllegalStateException(
              name + " cannot wait for connections any more: " + Verbs.errorText(ready));
        }
        runTasks();
        takeEvents();
        tick();
      }
    } finally {
      runTasks();
      destroy();
    }
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.error("{}: a task failed", name, e);
      }
    }
  }

  private void takeEvents() {
    try {
      while (!closing.get() && event.take(channel)) {
        dispatch();
      }
    } catch (VerbsException e) {
      LOG.error("{}: events of connections are lost", name, e);
    } catch (RuntimeException | Error e) {
      LOG.error("{}: an event of a connection could not be handled", name, e);
    }
  }

  private void dispatch() {
    if (event.type() == Layouts.CM_CONNECT_REQUEST) {
      Request request = new Request(event.id(), event.privateData());
      requests.put(request.id, request);
      acceptor.requested(request);
      return;
    }
    if (event.id() == listenId) {
      if (event.type() == Layouts.CM_DEVICE_REMOVAL) {
        deviceRemoved();
      }
      return;
    }
    Request request = requests.get(event.id());
    String end = request == null ? null : event.endOfConnection();
    if (end != null) {
      if (event.type() == Layouts.CM_DEVICE_REMOVAL) {
        removed(request.context);
      }
      request.ended(end);
    }
  }

  private void deviceRemoved() {
    boolean again = acceptor.listensAgain();
    LOG.error(
        "{}: the device {} of {} was removed{}",
        name,
        deviceName,
        Addresses.text(address),
        again ? "; listening again as soon as it is back" : "");
    removed(Verbs.context(listenId));
    destroyId(listenId);
    listenId = 0;
    againNanos = again ? System.nanoTime() + AGAIN_NANOS : 0;
    Verbs.closeRemovedDevices();
  }

  private void removed(long removedContext) {
    acceptor.deviceRemoved(removedContext);
    // The event may come before the device leaves the lists that librdmacm reads.
    closingsLeft = CLOSINGS;
    nextClosingNanos = System.nanoTime() + AGAIN_NANOS;
  }

  private void listenAgain(long now) {
    try {
      listenNow(address);
      LOG.info("{}: the device of {} is back", name, Addresses.text(address));
    } catch (IOException e) {
      // The device is not back yet.
      if (listenId != 0) {
        destroyId(listenId);
        listenId = 0;
      }
      againNanos = now + AGAIN_NANOS;
    }
  }

  private void tick() {
    long now = System.nanoTime();
    for (Iterator<Request> each = requests.values().iterator(); each.hasNext(); ) {
      Request request = each.next();
      if (now - request.sinceNanos >= ANSWER_NANOS && request.answered.compareAndSet(false, true)) {
        each.remove();
        rejectNow(request.id, null);
      }
    }
    if (listenId == 0) {
      if (againNanos != 0 && now - againNanos >= 0) {
        listenAgain(now);
      }
    } else if (entry >= 0 && !Verbs.isPresent(Verbs.context(listenId), entry)) {
      // Some kernels report the removal only after the context is closed.
      deviceRemoved();
    }
    if (closingsLeft > 0 && now - nextClosingNanos >= 0) {
      closingsLeft--;
      nextClosingNanos = now + AGAIN_NANOS;
      Verbs.closeRemovedDevices();
    }
    try {
      acceptor.tick(now);
    } catch (RuntimeException | Error e) {
      LOG.error("{}: checking the connections failed", name, e);
    }
  }

  private void rejectNow(long id, ByteBuffer data) {
    try {
      Verbs.reject(id, data == null ? 0 : Verbs.addressOf(data), data == null ? 0 : data.limit());
    } catch (VerbsException e) {
      // The peer has gone meanwhile.
    }
    destroyId(id);
  }

  private void destroyId(long id) {
    requests.remove(id);
    try {
      Verbs.destroyId(id);
    } catch (VerbsException e) {
      LOG.warn("{}: cannot destroy the id of a connection: {}", name, e.getMessage());
    }
  }

  /** Releases everything. Called by the thread, or without it when it never ran. */
  private void destroy() {
    for (Request request : requests.values().toArray(Request[]::new)) {
      if (request.answered.compareAndSet(false, true)) {
        rejectNow(request.id, null);
      } else {
        LOG.warn("{}: a connection of {} is still open", name, request.peer());
      }
    }
    if (listenId != 0) {
      destroyId(listenId);
    }
    if (requests.isEmpty()) {
      Verbs.destroyEventChannel(channel);
    }
    synchronized (wakeupLock) {
      wakeupDestroyed = true;
      Verbs.destroyWakeup(wakeup);
    }
  }

  /** The request of a peer to connect, and the state of the answer. */
  public final class Request {
    private final long id;
    private final InetSocketAddress peer;
    private final long context;
    private final String deviceName;
    private final ByteBuffer privateData;
    private final long sinceNanos = System.nanoTime();
    private final AtomicBoolean answered = new AtomicBoolean();

    // Learns of the connection's end, once it exists.
    private volatile QueuePair pair;
    private volatile Executor executor;
    private volatile String endedEarly;

    Request(long id, ByteBuffer privateData) {
      this.id = id;
      this.peer = Verbs.peerAddress(id);
      this.context = Verbs.context(id);
      this.deviceName = Verbs.deviceOf(id);
      this.privateData = privateData;
    }

    /** The other side. */
    public InetSocketAddress peer() {
      return peer;
    }

    /** The private data that the peer has sent; most networks pad it with zeros. */
    public ByteBuffer privateData() {
      return privateData.duplicate();
    }

    /** The handle of the device's context. */
    public long context() {
      return context;
    }

    /** The name of the device. */
    public String deviceName() {
      return deviceName;
    }

    /**
     * Refuses the peer. Any thread may call it.
     *
     * @param data private data of the refusal, at most {@link Verbs#MAX_REJECT_DATA} bytes, or null
     */
    public void reject(ByteBuffer data) {
      if (answered.compareAndSet(false, true)) {
        ByteBuffer direct = RdmaLoop.direct(data);
        execute(() -> rejectNow(id, direct));
      }
    }

    /**
     * Accepts the peer. Called by the thread of its queues.
     *
     * @param created posts receive requests, and returns the handler of the queue pair
     * @param data private data of the acceptance, at most {@link Verbs#MAX_ACCEPT_DATA} bytes, or
     *     null
     * @param queuesThread runs events of the connection in the thread of the queues
     * @throws IOException when there will be no connection; then the peer is refused
     */
    public QueuePair accept(
        RdmaQueues queues,
        QueuePair.Options options,
        Function<QueuePair, QueuePair.Handler> created,
        ByteBuffer data,
        Executor queuesThread)
        throws IOException {
      if (!answered.compareAndSet(false, true)) {
        throw new RdmaException("the peer was answered already");
      }
      QueuePair made;
      try {
        made = queues.create(id, options, unused -> execute(() -> destroyId(id)));
      } catch (IOException | RuntimeException e) {
        execute(() -> rejectNow(id, null));
        throw e;
      }
      try {
        Verbs.setAckTimeout(id, ackTimeout);
        made.handler(created.apply(made));
        if (!made.isClosed()) {
          ByteBuffer direct = RdmaLoop.direct(data);
          Verbs.accept(
              id,
              options.reads(),
              options.reads(),
              Verbs.RNR_RETRY_FOREVER,
              direct == null ? 0 : Verbs.addressOf(direct),
              direct == null ? 0 : direct.remaining());
        }
      } catch (IOException | RuntimeException e) {
        made.close("not accepted: " + e.getMessage());
        throw e;
      }
      executor = queuesThread;
      pair = made;
      if (endedEarly != null) {
        made.close(endedEarly);
      }
      return made;
    }

    /** Called in the listener's thread. */
    private void ended(String cause) {
      endedEarly = cause;
      QueuePair open = pair;
      if (open != null) {
        executor.execute(() -> open.close(cause));
      } else if (answered.compareAndSet(false, true)) {
        destroyId(id);
      }
    }
  }
}
