/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.common.Threads;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Poller;
import io.crail.rpc.loop.Sweepable;
import io.crail.verbs.Availability;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA on a client's loop. There is one object for each loop, and all connections of the loop share
 * it. So one poll of one completion queue serves metadata and data. The thread that drives the loop
 * polls. Used in the loop.
 */
public final class RdmaLoop implements Poller, Sweepable {
  /**
   * Receives the result of a connection attempt. Called in the loop. Either {@link #connected} or
   * {@link #failed} is called, once.
   */
  public interface ConnectListener {
    /**
     * The device is known and the queue pair exists. Receive requests are posted here.
     *
     * @return the handler of the queue pair
     */
    QueuePair.Handler created(QueuePair pair);

    /**
     * The connection is established.
     *
     * @param peerData private data of the peer's acceptance, padded with zeros by most networks
     */
    void connected(QueuePair pair, ByteBuffer peerData);

    /**
     * The attempt has failed. If a queue pair was created, its handler has been called before.
     *
     * @param cause a sentence for people
     * @param peerData private data of the peer's refusal, or null
     */
    void failed(String cause, ByteBuffer peerData);
  }

  /** A user of resources of a device. Called in the loop. */
  public interface DeviceUser {
    /** The connections of the device are closed. All other resources of it must be released now. */
    void deviceRemoved(RdmaDevice device);
  }

  private static final Logger LOG = LoggerFactory.getLogger(RdmaLoop.class);

  /** Polls between two reads of the connection manager's events. Each read costs a system call. */
  private static final int POLLS_PER_LOOK = 1024;

  private static final int RESOLVER_QUEUE = 1024;
  private static final long RESOLVER_IDLE_SECONDS = 10;
  private static final int MIN_ATTEMPT_MILLIS = 50;

  /** Pause between two checks for removed devices. */
  private static final long LOOK_NANOS = 500_000_000;

  private final ClientLoop loop;
  private final RdmaSettings settings;
  private final RdmaDevices devices = new RdmaDevices();
  private final RdmaQueues queues;
  private final long channel;
  private final CmEvent event = new CmEvent();
  private final Map<Long, Attempt> attempts = new HashMap<>();
  private final Map<Long, QueuePair> established = new HashMap<>();
  private final List<DeviceUser> users = new ArrayList<>();
  private final ThreadPoolExecutor resolver;
  private long nextLookNanos;
  private int pollsSinceLook;
  private int underWay;
  private boolean destroyed;

  private RdmaLoop(ClientLoop loop, RdmaSettings settings) throws VerbsException {
    this.loop = loop;
    this.settings = settings;
    this.queues =
        new RdmaQueues(
            devices, settings.completions(), RdmaQueues.POLL_SIZE, new Descriptors(loop));
    this.channel = Verbs.createEventChannel();
    this.nextLookNanos = loop.clock().nanoTime() + LOOK_NANOS;
    this.resolver =
        new ThreadPoolExecutor(
            1,
            1,
            RESOLVER_IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(RESOLVER_QUEUE),
            Threads.factory("crail-rdma-resolver"));
    resolver.allowCoreThreadTimeOut(true);
  }

  /**
   * Returns RDMA for a loop, and attaches it to the loop when this is called first. In the loop.
   *
   * @throws CrailException with UNSUPPORTED and the reason, when this process cannot use RDMA
   */
  public static RdmaLoop of(ClientLoop loop, RdmaSettings settings) throws CrailException {
    RdmaLoop known = loop.attached(RdmaLoop.class);
    if (known != null) {
      return known;
    }
    Availability availability = Availability.check();
    if (!availability.usable()) {
      throw ErrorCode.UNSUPPORTED.exception("RDMA: " + availability.problem());
    }
    try {
      RdmaLoop attached = new RdmaLoop(loop, settings);
      loop.watchDescriptor(Verbs.eventDescriptor(attached.channel));
      loop.attach(attached);
      loop.register(attached);
      return attached;
    } catch (VerbsException e) {
      throw ErrorCode.UNSUPPORTED.exception("RDMA: " + e.getMessage());
    }
  }

  /** The devices that this loop uses. */
  public RdmaDevices devices() {
    return devices;
  }

  /** The loop. */
  public ClientLoop loop() {
    return loop;
  }

  /** Registers a user, who learns of removed devices. In the loop. */
  public void register(DeviceUser user) {
    users.add(user);
  }

  /** Ends {@link #register}. In the loop. */
  public void unregister(DeviceUser user) {
    users.remove(user);
  }

  /** Counts an operation whose end a poll will find. The driver keeps polling for it. */
  public void begun() {
    underWay++;
  }

  /** Counts the end of such an operation. */
  public void ended() {
    underWay--;
  }

  /**
   * Begins to connect.
   *
   * @param peer may be unresolved; then each address of the name is tried
   * @param deadlineNanos when the attempt fails, on the loop's clock
   * @param privateData sent with the request, at most {@link Verbs#MAX_CONNECT_DATA} bytes, or null
   */
  public void connect(
      InetSocketAddress peer,
      long deadlineNanos,
      QueuePair.Options options,
      ByteBuffer privateData,
      ConnectListener listener) {
    new Dial(peer, deadlineNanos, options, direct(privateData), listener).start();
  }

  /** A copy in direct memory, or null. */
  static ByteBuffer direct(ByteBuffer data) {
    if (data == null || !data.hasRemaining()) {
      return null;
    }
    return ByteBuffer.allocateDirect(data.remaining()).put(data.duplicate()).flip();
  }

  @Override
  public boolean poll() {
    boolean progress = queues.poll() > 0;
    // Without operations in progress, a poll has to find out whether the connections still live.
    // But the poll that has just found the last operation's end does not, or each operation would
    // pay a system call.
    boolean idle = underWay == 0 && !progress;
    if (++pollsSinceLook >= POLLS_PER_LOOK || idle || !attempts.isEmpty()) {
      progress |= takeEvents();
    }
    return progress;
  }

  @Override
  public boolean isBusy() {
    return underWay > 0;
  }

  @Override
  public long spinNanos() {
    return settings.spinNanos();
  }

  @Override
  public boolean arm() {
    boolean nothing = !takeEvents();
    nothing &= queues.arm();
    // When the sleep ends, the next poll reads the events that may have ended it.
    pollsSinceLook = POLLS_PER_LOOK;
    return nothing;
  }

  @Override
  public void sweep(long nowNanos) {
    if (nowNanos - nextLookNanos >= 0) {
      nextLookNanos = nowNanos + LOOK_NANOS;
      List<RdmaDevice> removed = devices.removed();
      for (int i = 0; i < removed.size(); i++) {
        release(removed.get(i));
      }
    }
    if (attempts.isEmpty()) {
      return;
    }
    for (Attempt attempt : List.copyOf(attempts.values())) {
      if (nowNanos - attempt.deadlineNanos >= 0) {
        attempt.fail("no connection in time", null);
      }
    }
  }

  /** Closes a removed device. */
  private void release(RdmaDevice device) {
    String cause = "device " + device + " was removed";
    LOG.warn("{}; loop {} closes its connections", cause, loop.name());
    for (Attempt attempt : List.copyOf(attempts.values())) {
      if (Verbs.context(attempt.id) == device.context()) {
        attempt.fail(cause, null);
      }
    }
    queues.release(device, cause);
    for (DeviceUser user : List.copyOf(users)) {
      user.deviceRemoved(device);
    }
    devices.release(device);
  }

  @Override
  public void destroy() {
    destroyed = true;
    resolver.shutdownNow();
    for (Attempt attempt : List.copyOf(attempts.values())) {
      attempt.dial.fail("the loop was closed", null);
      attempt.end("the loop was closed");
    }
    queues.close();
    Verbs.destroyEventChannel(channel);
    devices.close();
  }

  private boolean takeEvents() {
    pollsSinceLook = 0;
    boolean any = false;
    try {
      while (event.take(channel)) {
        any = true;
        dispatch();
      }
    } catch (VerbsException e) {
      LOG.error("events of connections in loop {} are lost", loop.name(), e);
    }
    return any;
  }

  private void dispatch() {
    Attempt attempt = attempts.get(event.id());
    if (attempt != null) {
      attempt.advance();
      return;
    }
    QueuePair pair = established.get(event.id());
    String end = pair == null ? null : event.endOfConnection();
    if (end != null) {
      pair.close(end);
    }
  }

  private void destroyId(long id) {
    attempts.remove(id);
    established.remove(id);
    try {
      Verbs.destroyId(id);
    } catch (VerbsException e) {
      LOG.warn("cannot destroy the id of a connection: {}", e.getMessage());
    }
  }

  /** The descriptors of completion channels, which end a loop's sleep. */
  private record Descriptors(ClientLoop loop) implements RdmaQueues.DescriptorListener {
    @Override
    public void opened(int descriptor) {
      loop.watchDescriptor(descriptor);
    }

    @Override
    public void closing(int descriptor) {
      loop.unwatchDescriptor(descriptor);
    }
  }

  /**
   * A connection attempt: the name is resolved, then its addresses are tried one after the other.
   */
  private final class Dial {
    private final InetSocketAddress peer;
    private final long deadlineNanos;
    private final QueuePair.Options options;
    private final ByteBuffer privateData;
    private final ConnectListener listener;
    private InetAddress[] hosts;
    private int tried;
    private boolean done;

    Dial(
        InetSocketAddress peer,
        long deadlineNanos,
        QueuePair.Options options,
        ByteBuffer privateData,
        ConnectListener listener) {
      this.peer = peer;
      this.deadlineNanos = deadlineNanos;
      this.options = options;
      this.privateData = privateData;
      this.listener = listener;
    }

    void start() {
      begun();
      if (!peer.isUnresolved()) {
        hosts = new InetAddress[] {peer.getAddress()};
        tryNext("", null);
        return;
      }
      try {
        resolver.execute(this::resolve);
      } catch (RejectedExecutionException e) {
        fail("too many names to resolve at once", null);
      } catch (OutOfMemoryError e) {
        fail("no thread to resolve names: " + e.getMessage(), null);
      }
    }

    /** Runs in the resolver's thread, since it may block. */
    private void resolve() {
      List<InetAddress> found = new ArrayList<>();
      String failure = "unknown host " + peer.getHostString();
      try {
        found.addAll(List.of(InetAddress.getAllByName(peer.getHostString())));
      } catch (UnknownHostException e) {
        // Reported as no address.
      } catch (RuntimeException | Error e) {
        failure = "cannot resolve " + peer.getHostString() + ": " + e;
      }
      String why = failure;
      loop.submit(() -> resolved(found, why));
    }

    private void resolved(List<InetAddress> found, String failure) {
      hosts = found.toArray(InetAddress[]::new);
      tryNext(failure, null);
    }

    void tryNext(String lastFailure, ByteBuffer peerData) {
      if (done) {
        return;
      }
      long leftNanos = deadlineNanos - loop.clock().nanoTime();
      if (destroyed) {
        fail("the loop was closed", null);
      } else if (tried == hosts.length) {
        fail(lastFailure, peerData);
      } else if (leftNanos <= 0) {
        fail(lastFailure.isEmpty() ? "no connection in time" : lastFailure, peerData);
      } else {
        // Each address gets its share of the time, so that a dead one does not use all of it.
        long shareNanos =
            Math.max(leftNanos / (hosts.length - tried), MIN_ATTEMPT_MILLIS * 1_000_000L);
        InetAddress host = hosts[tried++];
        new Attempt(this, new InetSocketAddress(host, peer.getPort()), shareNanos).start();
      }
    }

    void connected(QueuePair pair, ByteBuffer peerData) {
      done = true;
      ended();
      listener.connected(pair, peerData);
    }

    void fail(String cause, ByteBuffer peerData) {
      if (!done) {
        done = true;
        ended();
        listener.failed(cause, peerData);
      }
    }
  }

  /** The attempt with one address. */
  private final class Attempt {
    private final Dial dial;
    private final InetSocketAddress address;
    private final long deadlineNanos;
    private final int timeoutMillis;
    private long id;
    private QueuePair pair;
    private boolean done;

    Attempt(Dial dial, InetSocketAddress address, long timeoutNanos) {
      this.dial = dial;
      this.address = address;
      this.deadlineNanos = loop.clock().nanoTime() + timeoutNanos;
      this.timeoutMillis = (int) Math.min(Integer.MAX_VALUE, timeoutNanos / 1_000_000);
    }

    void start() {
      try {
        id = Verbs.createId(channel);
      } catch (VerbsException e) {
        dial.tryNext(e.getMessage(), null);
        return;
      }
      attempts.put(id, this);
      try {
        Verbs.resolveAddress(id, address, timeoutMillis);
      } catch (java.io.IOException e) {
        fail(e.getMessage(), null);
      }
    }

    /** Processes the present event, which belongs to this attempt. */
    void advance() {
      try {
        switch (event.type()) {
          case Layouts.CM_ADDRESS_RESOLVED:
            Verbs.setAckTimeout(id, settings.ackTimeout());
            Verbs.resolveRoute(id, timeoutMillis);
            break;
          case Layouts.CM_ROUTE_RESOLVED:
            connect();
            break;
          case Layouts.CM_ESTABLISHED:
            attempts.remove(id);
            established.put(id, pair);
            done = true;
            dial.connected(pair, event.privateData());
            break;
          case Layouts.CM_REJECTED:
            fail(event.text(), event.privateData());
            break;
          default:
            fail(event.text(), null);
            break;
        }
      } catch (java.io.IOException e) {
        fail(e.getMessage(), null);
      }
    }

    private void connect() throws java.io.IOException {
      pair = queues.create(id, dial.options, RdmaLoop.this::destroyId);
      pair.handler(dial.listener.created(pair));
      if (pair.isClosed()) {
        fail("no connection: its queue pair was closed", null);
        return;
      }
      ByteBuffer data = dial.privateData;
      Verbs.connect(
          id,
          Math.min(dial.options.reads(), Verbs.MOST_READS),
          Math.min(dial.options.reads(), Verbs.MOST_READS),
          settings.retries(),
          Verbs.RNR_RETRY_FOREVER,
          data == null ? 0 : Verbs.addressOf(data),
          data == null ? 0 : data.remaining());
    }

    void fail(String cause, ByteBuffer peerData) {
      if (!done) {
        end(cause);
        boolean named = !address.getAddress().getHostAddress().equals(dial.peer.getHostString());
        dial.tryNext(
            named ? cause + " (" + address.getAddress().getHostAddress() + ")" : cause, peerData);
      }
    }

    void end(String cause) {
      done = true;
      if (pair != null) {
        pair.close(cause);
      } else {
        destroyId(id);
      }
    }
  }
}
