/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.login.Caller;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaDevices;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.rpc.rdma.RdmaQueues;
import io.crail.rpc.rdma.RdmaSettings;
import io.crail.storage.host.ClientCutOff;
import io.crail.storage.host.HostedRegions;
import io.crail.storage.host.HostedServer;
import io.crail.storage.network.DataHello;
import io.crail.storage.network.DataLogin;
import io.crail.storage.region.RegionMemory;
import io.crail.verbs.Availability;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server part of the RDMA tier: regions in mapped files, registered whole with the device of
 * the serving address. Clients' devices read and write the regions. This process has one thread,
 * the listener's. The thread accepts connections, notices the ends of clients, and shows that the
 * datanode lives. Started and closed by one thread.
 */
final class RdmaStorageServer extends HostedServer implements RdmaListener.Acceptor {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaStorageServer.class);
  private static final QueuePair.Options CONNECTION =
      new QueuePair.Options(ServedDevice.QUEUE_LENGTH - 1, 1, 1, 0, Verbs.MOST_READS);
  private static final int BACKLOG = 1024;
  private static final int FENCE_SECONDS = 60;

  private final int connectionLimit;
  private final long keepAliveNanos;
  private final RateLimitedLog refusals = new RateLimitedLog(LOG, Clock.SYSTEM);
  private final RdmaDevices devices = new RdmaDevices();

  private final RegisteredRegions registered = new RegisteredRegions();
  private RdmaListener listener;
  private RdmaDevice device;
  private RdmaQueues queues;

  // Shared with the listener's thread.
  private volatile boolean serving;

  // For the listener's thread only.
  private final ServedClients clients = new ServedClients(refusals);
  private long nextKeepAliveNanos;

  RdmaStorageServer(Configuration configuration) {
    super(RdmaStorageKeys.HOST, configuration);
    this.connectionLimit = configuration.get(RdmaStorageKeys.CONNECTION_LIMIT);
    this.keepAliveNanos = configuration.get(RdmaStorageKeys.KEEP_ALIVE).toNanos();
  }

  @Override
  protected HostedRegions place() throws IOException {
    // Its memory is pinned by the registration.
    return HostedRegions.pinned(configuration().get(RdmaStorageKeys.DATA_PATH));
  }

  @Override
  protected void prepare(InetSocketAddress address, List<Integer> lengths) throws IOException {
    checkAvailable(lengths);
    listen(address);
    String warning =
        ServedDevice.check(device.limits(), lengths.get(0), lengths.size(), connectionLimit);
    if (!warning.isEmpty() && device.mtuWarning().isEmpty()) {
      LOG.warn("{}", warning);
    }
  }

  @Override
  protected void serve(InetSocketAddress address) throws IOException {
    registered.register(device, hosted().all());
    queues =
        new RdmaQueues(
            devices,
            ServedDevice.QUEUE_LENGTH * connectionLimit,
            RdmaQueues.POLL_SIZE,
            descriptor -> {});
    serving = true;
  }

  private static void checkAvailable(List<Integer> lengths) throws IOException {
    long bytes = lengths.stream().mapToLong(Integer::longValue).sum();
    Availability availability = Availability.check(bytes);
    if (!availability.usable()) {
      throw new IOException("tier rdma cannot lend memory: " + availability.problem());
    }
  }

  private void listen(InetSocketAddress address) throws IOException {
    InetSocketAddress only =
        address.getAddress().isAnyLocalAddress() ? ServedDevice.onlyAddress() : null;
    int ackTimeout = RdmaSettings.of(configuration()).ackTimeout();
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

  @Override
  public void requested(RdmaListener.Request request) {
    DataLogin login = new DataLogin(mechanismsOfOneMessage(), uuid());
    DataHello.Response answer = null;
    ErrorCode refusal = serving ? ErrorCode.OK : ErrorCode.UNAVAILABLE;
    try {
      if (serving) {
        DataHello.Request hello = DataHello.request(request.privateData());
        answer = login.onlyHello(hello, Verbs.MAX_REJECT_DATA);
      }
    } catch (CrailException e) {
      refusal = e.code();
    } catch (IllegalStateException e) {
      refusals.warn("cannot answer the login of " + request.peer() + ": " + e.getMessage());
      refusal = ErrorCode.INTERNAL;
    }
    if (refusal == ErrorCode.OK && clients.size() >= connectionLimit) {
      refusal = ErrorCode.LIMIT_EXCEEDED;
    } else if (refusal == ErrorCode.OK && request.context() != device.context()) {
      // The regions' keys would mean nothing on another device.
      refusal = ErrorCode.UNAVAILABLE;
    }
    if (refusal != ErrorCode.OK) {
      refusals.warn("refused " + request.peer() + ": " + refusal.text());
      request.reject(DataHello.bytes(DataHello.response(refusal)));
      return;
    }
    try {
      Caller caller = login.caller();
      request.accept(
          queues,
          CONNECTION,
          pair -> clients.add(pair, caller),
          DataHello.bytes(answer),
          listener::execute);
    } catch (IOException e) {
      refusals.warn("cannot connect " + request.peer() + ": " + e.getMessage());
    }
  }

  @Override
  public void tick(long nowNanos) {
    hosted().beat();
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
      clients.ask();
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

  /** Releases the device, since the kernel may wait for that. In the listener's thread. */
  private void release() {
    serving = false;
    registered.fail(
        "device "
            + device
            + " of "
            + Addresses.text(listener.address())
            + " was removed, so the datanode's memory can no longer be reached");
    queues.close();
    registered.release();
    // After the ends of the device's connections, which are queued.
    listener.execute(() -> devices.release(device));
  }

  @Override
  public OptionalInt connections() {
    return OptionalInt.of(clients.size());
  }

  @Override
  public Optional<String> failure() {
    return Optional.ofNullable(registered.failure());
  }

  @Override
  public InetSocketAddress address() {
    return listener.address();
  }

  @Override
  public List<Region> regions() {
    return registered.announced();
  }

  @Override
  public TierTraits traits() {
    return TierTraits.ofMemory(FenceKind.CUT_OFF, false, hosted().mappablePath());
  }

  /**
   * Deregisters regions, so that the device refuses clients that know the present keys. Ends all
   * connections first, since a device must not lose memory during an access that has begun. Clients
   * that are still welcome connect again.
   */
  @Override
  public void beforeFences(List<Integer> fenced) throws IOException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    // In the thread that owns the connections, so that none begins during this.
    listener.execute(
        () -> {
          try {
            clients.endAll("regions " + fenced + " are lent to another namenode");
            registered.take(fenced);
            done.complete(null);
          } catch (RuntimeException | Error e) {
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

  /** {@inheritDoc} Destroys the queue pairs of these clients. */
  @Override
  public BooleanSupplier cutOff(List<Long> ids) {
    return ClientCutOff.order(ids, hosted(), this::endConnections, listener::execute);
  }

  private boolean endConnections(Set<Long> ids) {
    String failure = clients.cutOff(ids);
    if (failure != null) {
      // The device releases the memory when this process ends. Nothing else can be done.
      registered.fail(failure);
    }
    return registered.failure() == null;
  }

  @Override
  public boolean isQuiet(int region) {
    return !hosted().get(region).isBeingWritten();
  }

  @Override
  public Fence fence(int region) throws IOException {
    RegionMemory memory = hosted().get(region);
    long generation = memory.generations().fence();
    if (registered.isRegistered(region)) {
      beforeFences(List.of(region));
    }
    return new Fence(generation, registered.give(device, memory));
  }

  @Override
  protected void stop() {
    serving = false;
    if (listener != null) {
      if (queues != null) {
        // Runs before the listener's thread ends.
        listener.execute(queues::close);
      }
      listener.close();
    }
    registered.close();
    devices.close();
  }
}
