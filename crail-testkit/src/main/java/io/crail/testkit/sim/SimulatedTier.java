/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.Transfer;
import io.crail.storage.region.HazardTable;
import io.crail.storage.region.RegionMemory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A storage tier without a network. Datanodes are objects in this process. A transfer takes the
 * time that the test sets. It has two halves, and other transfers may come between them. The tier
 * checks generations as the TCP tier does, and has the worst behaviour of that tier: answers get
 * lost, and the second half of a write may be placed after its client has given up. It can also be
 * {@linkplain #oneSided one-sided}; then it checks nothing.
 *
 * <p>It works with every client loop. With a simulated network its times are exact; otherwise they
 * are rounded up to the loop's sweeps. Without latency a transfer ends before its call returns. The
 * test's thread changes settings while nothing is outstanding in other threads.
 */
public final class SimulatedTier implements StorageTier {
  /** The short name. */
  public static final String NAME = "simulated";

  private static final int FIRST_PORT = 30_000;
  private static final long RETRY_NANOS = 5_000_000;

  private final String name;
  private final Random random;
  private final SimulatedNetwork network;
  private final int regionCount;
  private final int regionLength;
  private final Map<String, Server> servers = new ConcurrentHashMap<>();
  private final AtomicInteger nextPort = new AtomicInteger(FIRST_PORT);
  private volatile long minLatencyNanos;
  private volatile long maxLatencyNanos;
  private volatile double lostAnswers;
  private volatile long latenessNanos;
  private ErrorCode readFailure = ErrorCode.OK;
  private volatile Function<Transfer, ErrorCode> writeFailures = transfer -> ErrorCode.OK;
  private volatile long failedLatenessNanos;
  private final Queue<Work> stalled = new ConcurrentLinkedQueue<>();
  private volatile Predicate<Transfer> stalls = transfer -> false;
  private volatile boolean mapped;
  private volatile boolean local;
  private volatile boolean oneSided;
  private volatile boolean cutOffsWait;
  private final AtomicInteger cutOffs = new AtomicInteger();
  private volatile boolean lateWrites;

  /**
   * Creates a tier whose datanodes all lend the same amount.
   *
   * @param random the source of all random choices; the threads that drive the loops use it
   * @param network gives the time; null for loops with a real clock
   * @param regionCount number of regions of each datanode
   * @param regionLength bytes of each region
   */
  public SimulatedTier(Random random, SimulatedNetwork network, int regionCount, int regionLength) {
    this(NAME, random, network, regionCount, regionLength);
  }

  /** Creates a tier with another name, for tests with several tiers. */
  public SimulatedTier(
      String name, Random random, SimulatedNetwork network, int regionCount, int regionLength) {
    this.name = name;
    this.random = random;
    this.network = network;
    this.regionCount = regionCount;
    this.regionLength = regionLength;
  }

  /** Sets the time of each half of a transfer. It is drawn evenly from this range. */
  public void latency(Duration least, Duration most) {
    if (least.isNegative() || most.compareTo(least) < 0) {
      throw new IllegalArgumentException("latency from " + least + " to " + most);
    }
    minLatencyNanos = least.toNanos();
    maxLatencyNanos = most.toNanos();
  }

  /**
   * Lets transfers take place but loses their answers.
   *
   * @param probability the probability that a transfer loses its answer
   * @param lateness the greatest additional delay of the second half of such a write; its client
   *     may have given up by then
   */
  public void loseAnswers(double probability, Duration lateness) {
    lostAnswers = probability;
    latenessNanos = lateness.toNanos();
  }

  /** Lets reads fail with this error and without any bytes. OK means no failure. */
  public void failReads(ErrorCode failure) {
    readFailure = failure;
  }

  /**
   * Lets writes fail.
   *
   * @param failures the error that a write gets when its first half has arrived; OK means no
   *     failure. The second half is placed even then, unless the error is STALE_EXTENT
   * @param lateness the greatest additional delay of the second half
   */
  public void failWrites(Function<Transfer, ErrorCode> failures, Duration lateness) {
    writeFailures = failures;
    failedLatenessNanos = lateness.toNanos();
  }

  /**
   * Sets whether writes are copies into mapped memory. Then the generation is checked before the
   * first half and after the second, and nothing stops a write between them.
   */
  public void mapped(boolean isMapped) {
    mapped = isMapped;
  }

  /**
   * Sets whether endpoints claim to copy within this host at once, although transfers take their
   * time. So a location that proves stale is simulated, or memory that cannot be mapped.
   */
  public void local(boolean isLocal) {
    local = isLocal;
  }

  /**
   * Sets whether datanodes are plain memory that the network reads and writes by itself. Then
   * generations are not checked. A write that was issued is placed whenever it arrives, even if its
   * client is gone, unless its connection was ended before. It arrives within two latencies and the
   * delay of {@link #loseAnswers}; a cluster's margin has to cover that. Called before datanodes
   * are started.
   */
  public void oneSided(boolean isOneSided) {
    oneSided = isOneSided;
  }

  /** Sets whether cutting a client off never completes at a datanode. */
  public void cutOffsWait(boolean wait) {
    cutOffsWait = wait;
  }

  /** How often datanodes have cut off a client. */
  public int cutOffs() {
    return cutOffs.get();
  }

  /**
   * Sets whether a write still reaches its datanode after its client has given it up, whenever the
   * network lets it pass. So bytes in a socket's buffer are simulated.
   */
  public void lateWrites(boolean arriveLate) {
    lateWrites = arriveLate;
  }

  /**
   * Stops the transfers that are issued from now on, even beyond their deadline. So hardware is
   * simulated that cannot be made to leave memory alone, or a process that is stopped between its
   * check of the deadline and the issue.
   *
   * @param stalled false to let the transfers from now on proceed
   */
  public void stall(boolean stalled) {
    stall(transfer -> stalled);
  }

  /**
   * As {@link #stall(boolean)}, for some transfers. The predicate is called once for each, at its
   * issue.
   */
  public void stall(Predicate<Transfer> stalled) {
    stalls = stalled;
  }

  /** Lets the stopped transfers proceed. */
  public void releaseStalled() {
    for (Work work = stalled.poll(); work != null; work = stalled.poll()) {
      Work late = work;
      late.endpoint.loop.submit((LoopTask) () -> late.later(latencyNanos()));
    }
  }

  @Override
  public String name() {
    return name;
  }

  /**
   * Creates a datanode.
   *
   * @param arguments empty, or the host and the port that the datanode claims
   */
  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    try {
      return newServer(
          arguments.isEmpty()
              ? InetSocketAddress.createUnresolved("datanode", nextPort.getAndIncrement())
              : InetSocketAddress.createUnresolved(
                  arguments.get(0), Integer.parseInt(arguments.get(1))));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new ConfigException("arguments of tier simulated: host port", e);
    }
  }

  /** Creates a datanode that claims an address. */
  public StorageServer newServer(InetSocketAddress address) {
    return new Server(address);
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) {
    return newClient(context.loop(), context.clientId());
  }

  /** Creates the client part for a client's loop. */
  public StorageClient newClient(ClientLoop loop, long clientId) {
    return new StorageClient() {
      @Override
      public StorageEndpoint connect(DatanodeDescription datanode) {
        return new Endpoint(loop, clientId, datanode);
      }

      @Override
      public void close() {
        // Endpoints share no state.
      }
    };
  }

  /** Removes a datanode without notice. Its clients receive nothing more. */
  public void crash(InetSocketAddress address) {
    Server server = servers.get(key(address));
    if (server != null) {
      server.silent = true;
    }
  }

  private static String key(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  private synchronized long latencyNanos() {
    return minLatencyNanos + (long) (random.nextDouble() * (maxLatencyNanos - minLatencyNanos));
  }

  private synchronized boolean losesAnswer() {
    return lostAnswers > 0 && random.nextDouble() < lostAnswers;
  }

  private synchronized long latenessNanos() {
    return (long) (random.nextDouble() * latenessNanos);
  }

  private final class Server implements StorageServer {
    private final InetSocketAddress address;
    private final List<RegionMemory> regions = new ArrayList<>();
    private volatile UUID uuid;
    private volatile boolean silent;
    // The open connection of each client. Every earlier one was ended.
    private final Map<Long, Integer> connections = new ConcurrentHashMap<>();

    Server(InetSocketAddress address) {
      this.address = address;
    }

    @Override
    public void start(UUID newUuid) throws IOException {
      // Not empty if this is the next process, which has the bytes of the one before.
      HazardTable hazards = HazardTable.anonymous();
      for (int i = regions.size(); i < regionCount; i++) {
        regions.add(RegionMemory.anonymous(i, regionLength, hazards));
      }
      silent = false;
      uuid = newUuid;
      Server other = servers.putIfAbsent(key(address), this);
      if (other != null) {
        throw new IOException("cannot serve on " + address + ": address in use");
      }
    }

    @Override
    public InetSocketAddress address() {
      return address;
    }

    @Override
    public List<Region> regions() {
      return regions.stream().map(r -> new Region(r.index(), r.length(), 0, 0)).toList();
    }

    @Override
    public TierTraits traits() {
      return TierTraits.ofMemory(oneSided ? FenceKind.CUT_OFF : FenceKind.GENERATION, true, "");
    }

    @Override
    public Fence fence(int region) {
      return new Fence(regions.get(region).generations().fence(), regions().get(region));
    }

    @Override
    public BooleanSupplier cutOff(List<Long> clients) {
      AtomicBoolean begun = new AtomicBoolean();
      return () -> {
        if (cutOffsWait) {
          return false;
        }
        if (begun.compareAndSet(false, true)) {
          clients.forEach(client -> connections.merge(client, 1, Integer::sum));
          cutOffs.addAndGet(clients.size());
        }
        return true;
      };
    }

    int connection(long client) {
      return connections.getOrDefault(client, 0);
    }

    @Override
    public void close() {
      servers.remove(key(address), this);
    }
  }

  /** All state is used only in the loop. */
  private final class Endpoint implements StorageEndpoint, Sweepable {
    private final ClientLoop loop;
    private final long clientId;
    private final DatanodeDescription datanode;
    private final List<Work> works = new ArrayList<>();
    private boolean registered;
    private boolean closed;

    Endpoint(ClientLoop loop, long clientId, DatanodeDescription datanode) {
      this.loop = loop;
      this.clientId = clientId;
      this.datanode = datanode;
    }

    @Override
    public void read(Transfer transfer) {
      if (readFailure == ErrorCode.OK) {
        submit(new Work(this, transfer, false));
      } else {
        transfer.end(readFailure.exception(datanode.address().toString()));
      }
    }

    @Override
    public void write(Transfer transfer) {
      submit(new Work(this, transfer, true));
    }

    private void submit(Work work) {
      loop.operationBegun();
      loop.submit(work);
    }

    @Override
    public boolean isLocal() {
      return local;
    }

    @Override
    public boolean isLost() {
      Server server = servers.get(key(datanode.address()));
      return datanode.keeps() && (server == null || !server.uuid.equals(datanode.uuid()));
    }

    @Override
    public void close() {
      loop.submit(this::loopClosing);
    }

    void begin(Work work) {
      if (closed) {
        work.end(ErrorCode.CLOSED.exception("endpoint of " + datanode.address()));
        return;
      }
      if (!registered) {
        registered = true;
        loop.register(this);
      }
      works.add(work);
      work.connection = connection();
      if (work.stalls) {
        stalled.add(work);
      } else {
        work.later(latencyNanos());
      }
    }

    int connection() {
      Server server = servers.get(key(datanode.address()));
      return server == null ? 0 : server.connection(clientId);
    }

    @Override
    public void sweep(long nowNanos) {
      for (Work work : List.copyOf(works)) {
        if (work.stalls) {
          continue;
        }
        if (network == null && nowNanos - work.dueNanos >= 0) {
          work.step();
        }
        if (!work.ended && nowNanos - work.transfer.deadlineNanos() >= 0) {
          work.end(ErrorCode.TIMED_OUT.exception("no answer from " + datanode.address()));
        }
      }
    }

    @Override
    public void loopClosing() {
      if (!closed) {
        closed = true;
        if (registered) {
          loop.unregister(this);
        }
        for (Work work : List.copyOf(works)) {
          work.end(ErrorCode.CLOSED.exception("endpoint of " + datanode.address()));
        }
      }
    }
  }

  /** A transfer, or the rest of it after its client has given up. */
  private final class Work implements LoopTask {
    private final Endpoint endpoint;
    private final Transfer transfer;
    private final boolean write;
    private final ErrorCode told;
    private final boolean answerLost;
    private final boolean stalls;
    private final int regionIndex;
    private final long offset;
    private final int length;
    private final long generation;
    private final ByteBuffer source;
    private Server server;
    private UUID process;
    // The connection under which its deadline was checked.
    private int connection;
    private boolean begun;
    private boolean ended;
    private boolean over;
    private long dueNanos;
    private final long issuedNanos;

    Work(Endpoint endpoint, Transfer transfer, boolean write) {
      this.endpoint = endpoint;
      this.transfer = transfer;
      this.write = write;
      this.issuedNanos = endpoint.loop.clock().nanoTime();
      this.stalls = SimulatedTier.this.stalls.test(transfer);
      this.told = write ? writeFailures.apply(transfer) : ErrorCode.OK;
      this.answerLost = losesAnswer() || isToldTooEarly();
      this.regionIndex = transfer.region();
      this.offset = transfer.regionOffset();
      this.length = transfer.length();
      this.generation = transfer.generation();
      // A copy, since the user may reuse the memory after the end was reported.
      this.source = write ? ByteBuffer.allocate(length) : null;
      if (write) {
        source.put(0, transfer.view(), transfer.bufferOffset(), length);
      }
    }

    /** True when the user learns of a failure before the transfer is over. */
    private boolean isToldTooEarly() {
      return told != ErrorCode.OK && told != ErrorCode.STALE_EXTENT;
    }

    @Override
    public void runInLoop() {
      endpoint.begin(this);
    }

    @Override
    public void rejected() {
      end(ErrorCode.CLOSED.exception("the loop of the endpoint"));
    }

    /** Plans the next step. */
    void later(long nanos) {
      if (network != null) {
        network.schedule(nanos, this::stepInLoop);
        return;
      }
      dueNanos = endpoint.loop.clock().nanoTime() + nanos;
      if (nanos == 0) {
        step();
      }
    }

    private void stepInLoop() {
      if (endpoint.loop.isClosed()) {
        // Its client has ended. Only transfers in flight remain.
        step();
      } else {
        endpoint.loop.submit(this::step);
      }
    }

    void step() {
      if (over || (network != null && isHeldUp())) {
        return;
      }
      if (oneSided && connection != endpoint.connection()) {
        beginAgain();
      } else if (!begun) {
        arrive();
      } else {
        finish();
      }
    }

    /** Its connection was ended. It begins again over the next connection, if there is time. */
    private void beginAgain() {
      if (ended) {
        leave();
      } else if (endpoint.loop.clock().nanoTime() - transfer.deadlineNanos() >= 0) {
        leave();
        end(ErrorCode.TIMED_OUT.exception("waited for " + endpoint.datanode.address()));
      } else {
        begun = false;
        connection = endpoint.connection();
        later(latencyNanos());
      }
    }

    /** Whether a host or the network between them is stopped; then this happens later. */
    private boolean isHeldUp() {
      String client = clientHost();
      String datanode = endpoint.datanode.address().getHostString();
      String copier = mapped ? client : datanode;
      if (!oneSided && network.isPaused(copier)) {
        network.schedule(copier, 0, this::stepInLoop);
        return true;
      }
      if (mapped || !network.isPartitioned(client, datanode)) {
        return false;
      }
      if (oneSided && network.clock().nanoTime() - issuedNanos > maxLatencyNanos) {
        // Hardware retries only for a while, and then gives the connection up.
        answer(ErrorCode.UNAVAILABLE, "the connection was given up");
      } else if (!ended || goesOn()) {
        later(RETRY_NANOS);
      } else {
        leave();
      }
      return true;
    }

    private String clientHost() {
      return endpoint.loop instanceof SimulatedClientLoop simulated ? simulated.host() : "";
    }

    /** The request reaches the datanode. The first half of the bytes moves. */
    private void arrive() {
      server = servers.get(key(endpoint.datanode.address()));
      if (server == null) {
        answer(ErrorCode.UNAVAILABLE, "no datanode serves there");
      } else if (!server.uuid.equals(endpoint.datanode.uuid())) {
        answer(ErrorCode.DATA_LOST, "another process serves there");
      } else if (server.silent) {
        leave();
      } else {
        begun = true;
        process = server.uuid;
        ErrorCode code = region() == null ? ErrorCode.OUT_OF_RANGE : open();
        if (told == ErrorCode.STALE_EXTENT) {
          code = told;
        }
        if (code != ErrorCode.OK) {
          answer(code, "generation " + generation);
        } else {
          move(0, length / 2);
          if (isToldTooEarly()) {
            later(latencyNanos() + failedLatenessNanos);
            end(told.exception(endpoint.datanode.address() + ": as the test says"));
          } else {
            later(latencyNanos() + (answerLost ? latenessNanos() : 0));
          }
        }
      }
    }

    private RegionMemory region() {
      RegionMemory found =
          regionIndex >= 0 && regionIndex < server.regions.size()
              ? server.regions.get(regionIndex)
              : null;
      return found != null && found.contains(offset, length) ? found : null;
    }

    private ErrorCode open() {
      if (oneSided) {
        return ErrorCode.OK;
      }
      return write
          ? region().generations().adopt((int) offset, length, generation)
          : region().generations().verify((int) offset, length, generation);
    }

    /** The second half moves, and the answer is sent. */
    private void finish() {
      if (servers.get(key(endpoint.datanode.address())) != server
          || !server.uuid.equals(process)
          || server.silent) {
        if (server.silent) {
          leave();
        } else {
          answer(ErrorCode.UNAVAILABLE, "the datanode has ended");
        }
        return;
      }
      ErrorCode code =
          write && !mapped && !oneSided
              ? region().generations().verify((int) offset, length, generation)
              : ErrorCode.OK;
      if (code == ErrorCode.OK) {
        move(length / 2, length);
        if (!oneSided) {
          code = region().generations().verifyAfter((int) offset, length, generation);
        }
      }
      answer(code, "generation " + generation);
    }

    private void move(int from, int to) {
      int count = to - from;
      if (count == 0) {
        return;
      }
      ByteBuffer data = region().data();
      if (write) {
        data.put((int) offset + from, source, from, count);
      } else if (!ended) {
        transfer.view().put(transfer.bufferOffset() + from, data, (int) offset + from, count);
      }
    }

    private void answer(ErrorCode code, String detail) {
      leave();
      if (answerLost) {
        return;
      }
      CrailException failure =
          code == ErrorCode.OK ? null : code.exception(endpoint.datanode.address() + ": " + detail);
      if (network != null && network.isPaused(clientHost())) {
        network.schedule(clientHost(), 0, () -> endpoint.loop.submit(() -> end(failure)));
      } else {
        end(failure);
      }
    }

    /** The datanode has finished this transfer. */
    private void leave() {
      over = true;
      if (ended) {
        endpoint.works.remove(this);
      }
    }

    /** Reports the end to the user, once. */
    void end(CrailException failure) {
      if (ended) {
        return;
      }
      ended = true;
      if (over || !goesOn()) {
        leave();
      }
      endpoint.loop.operationEnded();
      if (failure == null) {
        transfer.end();
      } else {
        transfer.end(failure);
      }
    }

    /** True for a write that is placed although its user has given up. */
    private boolean goesOn() {
      return write && (oneSided || lateWrites || ((answerLost || mapped) && begun));
    }
  }
}
