/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaDevices;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.rpc.rdma.RdmaQueues;
import io.crail.rpc.rdma.RdmaSettings;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.storage.StorageServer;
import io.crail.storage.host.LocalHost;
import io.crail.storage.region.DataPath;
import io.crail.storage.region.HugePages;
import io.crail.storage.region.RegionDirectory;
import io.crail.storage.region.RegionMemory;
import io.crail.storage.region.RegionPlan;
import io.crail.verbs.Availability;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server part of the RDMA tier: regions in mapped files, registered whole with the device of
 * the address that it serves on. Clients' devices read and write them; this process has one thread,
 * the listener's, that accepts connections, notices the ends of clients, and shows that it lives.
 * Started and closed by one thread.
 */
final class RdmaStorageServer implements StorageServer, RdmaListener.Acceptor {
  /** Entries of a connection's queues: a keep-alive, and a receive request that is never posted. */
  static final int QUEUE_LENGTH = 2;

  private static final Logger LOG = LoggerFactory.getLogger(RdmaStorageServer.class);
  private static final QueuePair.Options CONNECTION =
      new QueuePair.Options(QUEUE_LENGTH - 1, 1, 1, 0, Verbs.MOST_READS);
  private static final int BACKLOG = 1024;
  private static final int FENCE_SECONDS = 60;
  private static final int MOST_REPEATED_KEYS = 16;

  /** Turns of asking whether a client lives after which it counts as gone. */
  private static final int PATIENT_TURNS = 3;

  private static final int REGION_ACCESS =
      Layouts.ACCESS_LOCAL_WRITE | Layouts.ACCESS_REMOTE_READ | Layouts.ACCESS_REMOTE_WRITE;

  private final Configuration configuration;
  private final int connectionLimit;
  private final long keepAliveNanos;
  private final RateLimitedLog refusals = new RateLimitedLog(LOG, Clock.SYSTEM);
  private final RdmaDevices devices = new RdmaDevices();

  /**
   * By region; null from the begin of a fence to its end, the only time others use them, and when
   * the device was removed.
   */
  private final List<RegisteredMemory> registrations =
      Collections.synchronizedList(new ArrayList<>());

  private final List<RegionMemory> memories = new ArrayList<>();

  /** The keys that regions once had, so that none gets one again that somebody may remember. */
  private final Set<Integer> spentKeys = new HashSet<>();

  private volatile List<Region> regions = List.of();
  private DataPath dataPath;
  private UUID uuid;
  private RdmaListener listener;
  private RdmaDevice device;
  private RdmaQueues queues;
  private boolean closed;

  // Shared with the listener's thread.
  private volatile RegionDirectory directory;
  private volatile boolean serving;

  /** Null while the device is there. */
  private volatile String failure;

  // Of the listener's thread.
  private final List<ClientConnection> connections = new ArrayList<>();
  private final KeepAliveRequest keepAlive;
  private long nextKeepAliveNanos;

  RdmaStorageServer(Configuration configuration) {
    this.configuration = configuration;
    this.connectionLimit = configuration.get(RdmaStorageKeys.CONNECTION_LIMIT);
    this.keepAliveNanos = configuration.get(RdmaStorageKeys.KEEP_ALIVE).toNanos();
    this.keepAlive = new KeepAliveRequest();
  }

  @Override
  public void start(UUID newUuid) throws IOException {
    uuid = newUuid;
    List<InetSocketAddress> namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    String configuredPath = configuration.get(RdmaStorageKeys.DATA_PATH);
    Optional<HugePages> hugePages =
        configuredPath.isEmpty() ? Optional.empty() : HugePages.of(Path.of(configuredPath));
    dataPath = DataPath.of(hugePages.isPresent() ? "" : configuredPath);
    List<Integer> lengths =
        new RegionPlan(RdmaStorageKeys.STORAGE_LIMIT, RdmaStorageKeys.ALLOCATION_SIZE)
            .lengths(
                configuration,
                namenodes.size(),
                hugePages.map(HugePages::pageLength).orElse(Extent.MIN_LENGTH));
    checkAvailable(lengths);
    boolean started = false;
    try {
      listen(namenodes);
      String warning =
          ServedDevice.check(device.limits(), lengths.get(0), lengths.size(), connectionLimit);
      if (!warning.isEmpty() && device.mtuWarning().isEmpty()) {
        LOG.warn("{}", warning);
      }
      // Its memory is pinned by the registration, so all of it is taken here, where a file system
      // without room is an error.
      directory =
          hugePages.isPresent()
              ? RegionDirectory.create(dataPath.path(), uuid, lengths, hugePages.get())
              : RegionDirectory.create(dataPath.path(), uuid, lengths, true);
      register(directory.regions());
      queues =
          new RdmaQueues(
              devices, QUEUE_LENGTH * connectionLimit, RdmaQueues.POLL_SIZE, descriptor -> {});
      serving = true;
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private static void checkAvailable(List<Integer> lengths) throws IOException {
    long bytes = lengths.stream().mapToLong(Integer::longValue).sum();
    Availability availability = Verbs.check(bytes);
    if (!availability.usable()) {
      throw new IOException("tier rdma cannot lend memory: " + availability.problem());
    }
  }

  private void listen(List<InetSocketAddress> namenodes) throws IOException {
    InetAddress host = LocalHost.address(configuration.get(RdmaStorageKeys.INTERFACE), namenodes);
    InetSocketAddress address =
        new InetSocketAddress(host, configuration.get(RdmaStorageKeys.PORT));
    InetSocketAddress only = host.isAnyLocalAddress() ? ServedDevice.onlyAddress() : null;
    int ackTimeout = RdmaSettings.of(configuration).ackTimeout();
    try {
      listener = RdmaListener.listen("storage", address, BACKLOG, ackTimeout, this);
    } catch (IOException e) {
      throw new IOException(
          e.getMessage()
              + "; key '"
              + RdmaStorageKeys.INTERFACE.name()
              + "' names the address, and there are "
              + ServedDevice.all(),
          e);
    }
    device =
        only == null
            ? devices.of(listener.context(), listener.deviceName(), listener.address())
            : devices.of(ServedDevice.contextOf(only), Verbs.devices().get(0), only);
  }

  private void register(List<RegionMemory> made) throws IOException {
    List<Region> announced = new ArrayList<>();
    for (RegionMemory region : made) {
      RegisteredMemory registered = device.register(region.data(), REGION_ACCESS);
      registrations.add(registered);
      memories.add(region);
      announced.add(announce(region, registered));
    }
    regions = List.copyOf(announced);
  }

  private static Region announce(RegionMemory region, RegisteredMemory registered) {
    return new Region(
        region.index(),
        region.length(),
        registered.address(),
        Integer.toUnsignedLong(registered.rkey()));
  }

  @Override
  public void requested(RdmaListener.Request request) {
    ErrorCode refusal =
        serving ? RdmaHello.check(request.privateData(), uuid) : ErrorCode.UNAVAILABLE;
    if (refusal == ErrorCode.OK && connections.size() >= connectionLimit) {
      refusal = ErrorCode.LIMIT_EXCEEDED;
    } else if (refusal == ErrorCode.OK && request.context() != device.context()) {
      // Its keys would mean nothing there.
      refusal = ErrorCode.UNAVAILABLE;
    }
    if (refusal != ErrorCode.OK) {
      refusals.warn("refused " + request.peer() + ": " + refusal.text());
      request.reject(RdmaHello.response(refusal));
      return;
    }
    try {
      long clientId = RdmaHello.clientId(request.privateData());
      request.accept(
          queues,
          CONNECTION,
          pair -> new ClientConnection(pair, clientId),
          RdmaHello.response(ErrorCode.OK),
          listener::execute);
    } catch (IOException e) {
      refusals.warn("cannot connect " + request.peer() + ": " + e.getMessage());
    }
  }

  @Override
  public void tick(long nowNanos) {
    RegionDirectory living = directory;
    if (living != null) {
      living.beat();
    }
    if (!serving) {
      return;
    }
    if (device.isRemoved()) {
      release();
      return;
    }
    while (queues.poll() > 0) {
      // Each call takes a batch.
    }
    if (nowNanos - nextKeepAliveNanos >= 0) {
      nextKeepAliveNanos = nowNanos + keepAliveNanos;
      for (int i = connections.size() - 1; i >= 0; i--) {
        connections.get(i).ask();
      }
    }
  }

  @Override
  public void deviceRemoved(long context) {
    devices.deviceRemoved(context);
  }

  @Override
  public boolean listensAgain() {
    return false;
  }

  /** Lets go of the device, for the kernel may wait for that. In the listener's thread. */
  private void release() {
    serving = false;
    String text =
        "device "
            + device
            + " of "
            + Addresses.text(listener.address())
            + " was removed, and nobody can reach the datanode's memory any more";
    queues.close();
    synchronized (registrations) {
      failure = text;
      for (int i = 0; i < registrations.size(); i++) {
        if (registrations.get(i) != null) {
          registrations.set(i, null).close();
        }
      }
    }
    // Behind the ends of its connections, which are queued.
    listener.execute(() -> devices.release(device));
  }

  @Override
  public Optional<String> failure() {
    return Optional.ofNullable(failure);
  }

  /** A client that is connected. Used by the listener's thread. */
  private final class ClientConnection implements QueuePair.Handler {
    private final QueuePair pair;
    private final long clientId;
    private boolean asked;
    private int turnsUnanswered;

    ClientConnection(QueuePair pair, long clientId) {
      this.pair = pair;
      this.clientId = clientId;
      connections.add(this);
    }

    /** Writes nothing to the client; its device acknowledges that as long as it is there. */
    void ask() {
      if (asked) {
        // Some devices repeat for ever what is not acknowledged.
        if (++turnsUnanswered == PATIENT_TURNS) {
          gone("nothing acknowledged");
          pair.close("it does not answer");
        }
        return;
      }
      asked = true;
      turnsUnanswered = 0;
      int result = pair.post(keepAlive.address(pair.wrId(0)));
      if (result < 0) {
        pair.close("the device takes no request: " + Verbs.errorText(result));
      }
    }

    private void gone(String text) {
      refusals.warn("client " + pair.peer() + " does not answer any more: " + text);
    }

    @Override
    public void completed(int request, int opcode, int bytes) {
      asked = false;
    }

    @Override
    public void failed(int request, int status, String text) {
      gone(text);
    }

    @Override
    public void closed(String cause) {
      connections.remove(this);
      LOG.debug("the connection of {} has ended: {}", pair.peer(), cause);
    }
  }

  /** The request of a write of no bytes, the same for all connections but for its id. */
  private static final class KeepAliveRequest {
    private ByteBuffer request;
    private long address;

    long address(long id) {
      if (request == null) {
        request = ByteBuffer.allocateDirect(Layouts.SEND_WR_SIZE).order(ByteOrder.nativeOrder());
        request.putInt(Layouts.SEND_WR_OPCODE, Layouts.OPCODE_RDMA_WRITE);
        request.putInt(Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
        address = Verbs.addressOf(request);
      }
      request.putLong(Layouts.WR_ID, id);
      return address;
    }
  }

  @Override
  public InetSocketAddress address() {
    return listener.address();
  }

  @Override
  public List<Region> regions() {
    return regions;
  }

  @Override
  public TierTraits traits() {
    return TierTraits.ofMemory(
        FenceKind.CUT_OFF, false, directory == null ? "" : directory.mappablePath());
  }

  /**
   * Takes regions from the device, so that clients' devices are refused that know the present keys.
   * Ends all connections before, for a device must not lose memory under an access that has begun;
   * who is still welcome connects again.
   */
  @Override
  public void beforeFences(List<Integer> fenced) throws IOException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    // In the thread that has the connections, so that none begins meanwhile.
    listener.execute(
        () -> {
          try {
            takeFromDevice(fenced);
            done.complete(null);
          } catch (RuntimeException | AssertionError e) {
            done.completeExceptionally(e);
          }
        });
    try {
      done.get(FENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException("regions " + fenced + " keep their keys", e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("regions " + fenced + " did not lose their keys in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("regions " + fenced + " keep their keys");
    }
  }

  /**
   * Destroys the queue pairs of some clients, those included that their clients do not know to be
   * there yet: from then on this device refuses what they have posted, whenever it leaves theirs.
   * Who maps the regions on this host may not copy any more; who is in the middle of that is waited
   * for, until it has gone on or ended.
   */
  @Override
  public BooleanSupplier cutOff(List<Long> clients) {
    CutOff order = new CutOff(Set.copyOf(clients));
    // In the thread that accepts: who connects after this looks at his leases after it.
    listener.execute(order);
    return order::isDone;
  }

  /** An order to cut off clients. Runs in the listener's thread, each time that it is asked for. */
  private final class CutOff implements Runnable {
    private final Set<Long> clients;
    private boolean connectionsEnded;
    private List<Long> revoked;
    private volatile boolean done;

    CutOff(Set<Long> clients) {
      this.clients = clients;
    }

    boolean isDone() {
      if (!done) {
        listener.execute(this);
      }
      return done;
    }

    @Override
    public void run() {
      RegionDirectory living = directory;
      if (!connectionsEnded) {
        connectionsEnded = endConnections();
      }
      if (connectionsEnded && revoked == null) {
        revoked = living == null ? List.of() : living.revoke(clients);
      }
      done = revoked != null && (living == null || living.areIdle(revoked));
    }

    private boolean endConnections() {
      for (ClientConnection each : List.copyOf(connections)) {
        if (clients.contains(each.clientId)) {
          LOG.info(
              "client {} at {} is cut off, for it has lost a lease without a word",
              Long.toHexString(each.clientId),
              each.pair.peer());
          if (!each.pair.close("its client is cut off")) {
            // With this process the device lets go of it; nothing else is left to do.
            failure = "the connection of " + each.pair.peer() + " cannot be ended";
          }
        }
      }
      return failure == null;
    }
  }

  @Override
  public boolean isQuiet(int region) {
    return !memories.get(region).isBeingWritten();
  }

  private void takeFromDevice(List<Integer> fenced) {
    for (ClientConnection each : List.copyOf(connections)) {
      each.pair.close("regions " + fenced + " are lent to another namenode");
    }
    for (int region : fenced) {
      RegisteredMemory old = registrations.set(region, null);
      if (old != null) {
        spentKeys.add(old.rkey());
        old.close();
      }
    }
  }

  @Override
  public Fence fence(int region) throws IOException {
    long generation = memories.get(region).generations().fence();
    if (registrations.get(region) != null) {
      beforeFences(List.of(region));
    }
    RegisteredMemory fresh;
    synchronized (registrations) {
      if (failure != null) {
        throw new IOException(failure);
      }
      fresh = registerUnderNewKey(memories.get(region));
      registrations.set(region, fresh);
    }
    List<Region> announced = new ArrayList<>(regions);
    announced.set(region, announce(memories.get(region), fresh));
    regions = List.copyOf(announced);
    return new Fence(generation, announced.get(region));
  }

  /** Devices count keys up within few bits, so one may come again that was spent. */
  private RegisteredMemory registerUnderNewKey(RegionMemory region) throws IOException {
    // They stay until there is another, for the device gives two at a time different keys. Each
    // counts as locked memory, so a process with leave for little more than once may fail here.
    List<RegisteredMemory> repeated = new ArrayList<>();
    try {
      while (repeated.size() < MOST_REPEATED_KEYS) {
        RegisteredMemory fresh = device.register(region.data(), REGION_ACCESS);
        if (!spentKeys.contains(fresh.rkey())) {
          return fresh;
        }
        repeated.add(fresh);
      }
      throw new IOException(device + " gives only keys that were used before");
    } finally {
      repeated.forEach(RegisteredMemory::close);
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    serving = false;
    if (listener != null) {
      if (queues != null) {
        // Runs before the listener's thread ends.
        listener.execute(queues::close);
      }
      listener.close();
    }
    registrations.stream().filter(Objects::nonNull).forEach(RegisteredMemory::close);
    registrations.clear();
    devices.close();
    // Whoever keeps a closed server keeps no memory with it.
    memories.clear();
    regions = List.of();
    if (directory != null) {
      directory.close();
      dataPath.removeUnused();
    }
  }
}
