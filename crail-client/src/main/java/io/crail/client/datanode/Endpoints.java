/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import io.crail.client.statistics.ByteCounters;
import io.crail.client.statistics.StoreStatistics;
import io.crail.common.OtherUserException;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.part.Region;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import io.crail.storage.mapped.MappedEndpoint;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * The datanodes as one loop reaches them. An endpoint is made when a location first names its
 * datanode: the namenode describes it, and memory of this host is mapped rather than reached over
 * the network. Any thread finds known endpoints; new ones are made in the loop. An endpoint that
 * has lost its datanode is forgotten. So the memory of a datanode that has ended goes back to the
 * host, and a datanode that comes back is described anew.
 */
public final class Endpoints implements Sweepable {
  private static final int MAX_ENDPOINTS = 16_384;
  private static final long LOOK_INTERVAL_NANOS = 500_000_000;

  /** An operation that needs an endpoint. Called in the loop. */
  public interface Waiter {
    /** The endpoint is known now. */
    void endpointReady();

    /** The endpoint of a datanode could not be made. */
    void endpointFailed(int datanode, CrailException cause);
  }

  private static final Waiter NO_WAITER =
      new Waiter() {
        @Override
        public void endpointReady() {}

        @Override
        public void endpointFailed(int datanode, CrailException cause) {
          // The operations that need the endpoint learn of it.
        }
      };

  private final Configuration configuration;
  private final Transport transport;
  private final ClientLoop loop;
  private final NameNodeClient namenodes;
  private final Function<String, StorageTier> tiers;
  private final boolean mapped;
  private final MappingWarnings warnings;
  private final long clientId;
  private final StoreStatistics statistics;
  private final DatanodeTickets tickets;
  private final Map<Integer, Known> ready = new ConcurrentHashMap<>();
  private final Set<Integer> keepers = ConcurrentHashMap.newKeySet();

  // In the loop.
  private final Map<Integer, Description> pending = new HashMap<>();
  private final List<Description> withoutTicket = new ArrayList<>();
  private final Map<String, StorageClient> clients = new HashMap<>();
  private boolean watching;
  private long nextLookNanos;
  private boolean closed;

  /**
   * Creates endpoints for a loop.
   *
   * @param tiers gives the tier of a name
   * @param warnings those of the store
   * @param clientId identity of the store, as known to namenodes
   * @param statistics those of the store
   */
  public Endpoints(
      Configuration configuration,
      Transport transport,
      ClientLoop loop,
      NameNodeClient namenodes,
      Function<String, StorageTier> tiers,
      MappingWarnings warnings,
      long clientId,
      StoreStatistics statistics) {
    this.configuration = configuration;
    this.transport = transport;
    this.loop = loop;
    this.namenodes = namenodes;
    this.tiers = tiers;
    this.mapped = configuration.get(StorageKeys.LOCAL_MAP);
    this.warnings = warnings;
    this.clientId = clientId;
    this.statistics = statistics;
    this.tickets = new DatanodeTickets(clientId, loop.clock());
  }

  /** A datanode and the way to it, or null when it has not been made yet. */
  public Known find(int datanode) {
    Known known = ready.get(datanode);
    if (known == null) {
      return null;
    }
    if (known.endpoint.isLost()) {
      ready.remove(datanode, known);
      return null;
    }
    return known;
  }

  /**
   * Whether a datanode keeps its bytes over the end of its process, as it was described last. If it
   * is away, it may be starting again.
   */
  public boolean keeps(int datanode) {
    return keepers.contains(datanode);
  }

  /** All datanodes that are known now. */
  public List<DatanodeDescription> known() {
    return ready.values().stream().map(Known::description).toList();
  }

  /** The number of endpoints. */
  public int size() {
    return ready.size();
  }

  /** Makes an endpoint. In the loop. */
  public void resolve(int datanode, Waiter waiter) {
    if (closed) {
      waiter.endpointFailed(datanode, ErrorCode.CLOSED.exception("store"));
    } else if (find(datanode) != null) {
      waiter.endpointReady();
    } else if (isFull()) {
      waiter.endpointFailed(
          datanode,
          ErrorCode.LIMIT_EXCEEDED.exception("connections to " + MAX_ENDPOINTS + " datanodes"));
    } else {
      Description description = pending.get(datanode);
      if (description == null) {
        description = new Description(datanode, false);
        pending.put(datanode, description);
        description.waiters.add(waiter);
        description.ask();
      } else {
        description.waiters.add(waiter);
      }
    }
  }

  /** Makes an endpoint that has no waiter yet. The next caller finds it. By any thread. */
  public void prepare(int datanode) {
    loop.submit((LoopTask) () -> resolve(datanode, NO_WAITER));
  }

  private boolean isFull() {
    if (ready.size() >= MAX_ENDPOINTS) {
      forgetLost();
    }
    return ready.size() >= MAX_ENDPOINTS;
  }

  private void forgetLost() {
    ready.values().removeIf(known -> known.endpoint.isLost());
  }

  @Override
  public void sweep(long nowNanos) {
    if (nowNanos - nextLookNanos >= 0) {
      nextLookNanos = nowNanos + LOOK_INTERVAL_NANOS;
      forgetLost();
      renewTickets(nowNanos);
    }
  }

  private void watch() {
    if (!watching) {
      watching = true;
      nextLookNanos = loop.clock().nanoTime() + LOOK_INTERVAL_NANOS;
      loop.register(this);
    }
  }

  private void renewTickets(long nowNanos) {
    if (!withoutTicket.isEmpty()) {
      List<Description> again = List.copyOf(withoutTicket);
      withoutTicket.clear();
      again.forEach(each -> each.askAgain(nowNanos));
    }
    tickets.prune(nowNanos);
    boolean isAnyDue = false;
    for (Known known : ready.values()) {
      isAnyDue |= tickets.isDue(known.description.uuid(), nowNanos);
    }
    if (!isAnyDue) {
      return;
    }
    // Each namenode that knows a datanode is asked, since one of them may be away.
    ready.forEach(
        (datanode, known) -> {
          if (tickets.isDue(known.description.uuid(), nowNanos) && !pending.containsKey(datanode)) {
            Description renewal = new Description(datanode, true);
            pending.put(datanode, renewal);
            renewal.ask();
          }
        });
    for (Known known : ready.values()) {
      if (tickets.isDue(known.description.uuid(), nowNanos)) {
        tickets.asked(known.description.uuid(), nowNanos);
      }
    }
  }

  /**
   * A datanode and the way to it.
   *
   * @param heardNanos when it answered last
   * @param local counts bytes that are copied within this host
   * @param remote counts other bytes
   */
  public record Known(
      DatanodeDescription description,
      StorageEndpoint endpoint,
      AtomicLong heardNanos,
      ByteCounters local,
      ByteCounters remote) {}

  /** The conversation in which a namenode describes a datanode, a page of regions at a time. */
  private final class Description {
    private final int datanode;
    private final boolean isRenewal;
    private final List<Waiter> waiters = new ArrayList<>();
    private final Map<Integer, Region> regions = new HashMap<>();
    private final long deadlineNanos = namenodes.newDeadlineNanos();
    // The one whose regions these are; null before the first answer.
    private UUID process;

    Description(int datanode, boolean isRenewal) {
      this.datanode = datanode;
      this.isRenewal = isRenewal;
    }

    void ask() {
      DescribeDatanode.Request request = new DescribeDatanode.Request(datanode, regions.size());
      OperationCall<DescribeDatanode.Request, DescribeDatanode.Response> call =
          new OperationCall<>(NameNodeOperations.DESCRIBE_DATANODE);
      call.prepare(
          namenodes.route(NameNodeOperations.DESCRIBE_DATANODE, request),
          request,
          namenodes.newDeadlineNanos());
      call.whenComplete(() -> answered(call));
      call.submit();
    }

    private void answered(OperationCall<DescribeDatanode.Request, DescribeDatanode.Response> call) {
      CrailException failure = call.failure();
      if (failure != null) {
        end(failure);
        return;
      }
      DescribeDatanode.Response response = call.response();
      if (closed) {
        end(ErrorCode.CLOSED.exception("store"));
        return;
      }
      boolean lacksTicket = response.ticket().length() == 0 && namenodes.key(namenode()) != null;
      if (lacksTicket && response.online() && !isRenewal) {
        // After a start of the namenode, the datanode may come back later than its clients.
        withoutTicket.add(this);
        watch();
        return;
      }
      UUID answered = new UUID(response.uuidHigh(), response.uuidLow());
      if (!answered.equals(process)) {
        boolean isFirst = process == null;
        process = answered;
        if (!isFirst) {
          // Another process has the bytes now, with other addresses and keys for all regions.
          regions.clear();
          ask();
          return;
        }
      }
      int before = regions.size();
      for (Region region : response.regions()) {
        regions.put(region.index(), region);
      }
      if (regions.size() > before && regions.size() < response.totalRegions()) {
        ask();
        return;
      }
      end(isRenewal && waiters.isEmpty() ? renewed(response) : tryInstall(response));
    }

    /** Gives the error, or null. */
    private CrailException tryInstall(DescribeDatanode.Response response) {
      try {
        takeTicket(response);
        install(describe(response));
        return null;
      } catch (CrailException e) {
        return e;
      } catch (ConfigException e) {
        return ErrorCode.UNSUPPORTED.exception(e.getMessage());
      } catch (RuntimeException | LinkageError e) {
        // The waiting operations must learn of a tier's bug at once.
        CrailException cause = ErrorCode.INTERNAL.exception("endpoint of datanode " + datanode);
        cause.initCause(e);
        return cause;
      }
    }

    private DatanodeDescription describe(DescribeDatanode.Response response) {
      return new DatanodeDescription(
          new UUID(response.uuidHigh(), response.uuidLow()),
          response.tier().toString(),
          InetSocketAddress.createUnresolved(response.host().toString(), response.port()),
          response.storageClass(),
          response.traits(),
          Map.copyOf(regions),
          response.keeps());
    }

    private CrailException renewed(DescribeDatanode.Response response) {
      try {
        takeTicket(response);
        return null;
      } catch (CrailException e) {
        return e;
      }
    }

    private int namenode() {
      return Integer.remainderUnsigned(datanode, namenodes.count());
    }

    private void takeTicket(DescribeDatanode.Response response) throws CrailException {
      tickets.take(process, response.ticket(), namenodes.key(namenode()));
    }

    private void askAgain(long nowNanos) {
      if (nowNanos - deadlineNanos < 0) {
        ask();
      } else {
        end(
            ErrorCode.UNAVAILABLE.exception(
                "datanode " + datanode + " has not logged in at its namenode"));
      }
    }

    private void install(DatanodeDescription description) throws CrailException {
      // Also when there is no way to it now.
      if (description.keeps()) {
        keepers.add(datanode);
      } else {
        keepers.remove(datanode);
      }
      StorageEndpoint endpoint = connect(description);
      ready.put(
          datanode,
          new Known(
              description,
              endpoint,
              new AtomicLong(loop.clock().nanoTime()),
              statistics.localBytes(),
              statistics.bytesTo(description.tier())));
      watch();
    }

    private void end(CrailException failure) {
      pending.remove(datanode);
      for (Waiter waiter : waiters) {
        if (failure == null) {
          waiter.endpointReady();
        } else {
          waiter.endpointFailed(datanode, failure);
        }
      }
    }
  }

  private StorageEndpoint connect(DatanodeDescription description) throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("store");
    }
    if (mapped) {
      try {
        Optional<MappedEndpoint> local =
            MappedEndpoint.open(
                description,
                clientId,
                tickets.lasting(description.uuid(), true),
                loop.clock(),
                reason -> aroundMapping(description, reason));
        if (local.isPresent()) {
          return local.get();
        }
      } catch (OtherUserException e) {
        warnings.ofOtherUser(description, e.getMessage());
      } catch (CrailException e) {
        // It has ended, which the network would find out much later.
        throw e;
      } catch (IOException e) {
        warnings.notMapped(description, e.toString());
      }
    }
    return connectOverNetwork(description);
  }

  /** The endpoint of a datanode whose memory cannot be mapped after all. By any thread. */
  private StorageEndpoint aroundMapping(DatanodeDescription description, String reason) {
    warnings.notMapped(description, reason);
    return new LazyEndpoint(loop, () -> connectOverNetwork(description));
  }

  private StorageEndpoint connectOverNetwork(DatanodeDescription description)
      throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("store");
    }
    StorageClient client = clients.get(description.tier());
    if (client == null) {
      client =
          tiers
              .apply(description.tier())
              .createClient(
                  new StorageClient.Context(configuration, transport, loop, clientId, tickets));
      clients.put(description.tier(), client);
    }
    return client.connect(description);
  }

  /** Fails outstanding transfers and closes all endpoints. */
  public void close() {
    loop.submit(
        () -> {
          closed = true;
          if (watching) {
            loop.unregister(this);
          }
          ready.values().forEach(known -> known.endpoint.close());
          ready.clear();
          clients.values().forEach(StorageClient::close);
          clients.clear();
          List<Description> waiting = List.copyOf(withoutTicket);
          withoutTicket.clear();
          waiting.forEach(each -> each.end(ErrorCode.CLOSED.exception("store")));
        });
  }
}
