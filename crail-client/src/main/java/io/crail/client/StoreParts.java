/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailStore;
import io.crail.client.datanode.Endpoints;
import io.crail.client.datanode.MappingWarnings;
import io.crail.client.lease.LeaseReturn;
import io.crail.client.lease.Leases;
import io.crail.client.loop.LoopContext;
import io.crail.client.loop.Loops;
import io.crail.client.loop.SpaceWaits;
import io.crail.client.node.NodeHandles;
import io.crail.client.node.OwnerNames;
import io.crail.client.node.StoreContext;
import io.crail.client.space.BlockLocations;
import io.crail.client.space.LocationMap;
import io.crail.client.statistics.StoreStatistics;
import io.crail.client.stream.StreamContext;
import io.crail.client.stream.UnclosedStreams;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.memory.BufferPool;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.Routes;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.secret.SecretCredentials;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.login.Principal;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.LocalHost;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.slf4j.LoggerFactory;

/** Makes the parts of a store as the configuration says, and closes them. */
final class StoreParts implements StoreStatistics.Present, AutoCloseable {
  private static final int MOST_DEFAULT_LOOPS = 4;
  private static final long MOST_MEMORY_WAIT_NANOS = 2_000_000_000L;

  /**
   * What a store is given by its maker.
   *
   * @param ownsTransport whether the transport is closed with the store
   * @param withTimer whether a thread of the store renews its leases; else only its loops do
   * @param tiers the tiers by their names
   * @param ids where the identity of the store comes from
   * @param tokens where those of its leases come from, for the calling thread
   */
  record Source(
      Configuration configuration,
      Transport transport,
      Clock clock,
      boolean ownsTransport,
      boolean withTimer,
      Function<String, StorageTier> tiers,
      RandomGenerator ids,
      Supplier<? extends RandomGenerator> tokens) {}

  private final Source source;
  private final Configuration configuration;
  private final NamenodeAddresses addresses;
  private final NameNodeClient.Identity identity;
  private final long rpcTimeoutNanos;
  private final SpreadPatterns spreadPatterns;
  private final MappingWarnings mappingWarnings =
      new MappingWarnings(LoggerFactory.getLogger(StoreParts.class));
  private final SpaceWaits spaceWaits;
  private final BufferPool pool;
  private final StoreStatistics statistics;
  private final Loops loops;
  private final UnclosedStreams unclosed;
  private final Leases leases;
  private final Routes routes;
  private final StoreContext context;

  /** Makes the parts of a store. */
  StoreParts(CrailStore store, Source source) {
    this.source = source;
    this.configuration = source.configuration();
    this.routes = new Routes(source.clock());
    this.addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    this.rpcTimeoutNanos = configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos();
    this.spreadPatterns = SpreadPatterns.parse(configuration.get(ClientKeys.SPREAD));
    int sliceBytes = ClientKeys.sliceBytes(configuration);
    this.identity =
        new NameNodeClient.Identity(
            Hello.ROLE_CLIENT,
            source.ids().nextLong(),
            host(configuration, addresses),
            configuration.get(ClusterKeys.CLUSTER_NAME),
            ClusterKeys.user(configuration),
            SecretCredentials.of(
                Secrets.of(configuration, source.clock()),
                Principal.Role.CLIENT,
                ClusterKeys.user(configuration)));
    this.spaceWaits =
        new SpaceWaits(
            LoggerFactory.getLogger(StoreParts.class),
            source.clock(),
            configuration.get(ClientKeys.SPACE_PATIENCE).toNanos());
    this.pool =
        new BufferPool(
            configuration.get(ClientKeys.BUFFER_SIZE).intValue(),
            configuration.get(ClientKeys.CACHE_LIMIT));
    this.statistics = new StoreStatistics(configuration.get(ClientKeys.STATISTICS), pool, this);
    long dataTimeoutNanos = configuration.get(ClientKeys.DATA_TIMEOUT).toNanos();
    BlockLocations locations =
        new BlockLocations(
            LocationMap.parse(configuration.get(ClientKeys.LOCATION_MAP)),
            configuration.get(ClientKeys.SHADOW_REPLICATION));
    boolean randomizes = configuration.get(ClientKeys.DIRECTORY_RANDOMIZE);
    // From here on there is something to close, so nothing is parsed any more.
    this.loops = new Loops(loopCount(configuration), this::newContext);
    LoopContext first = loops.first();
    this.unclosed = new UnclosedStreams(source.withTimer());
    this.leases =
        new Leases(
            first, unclosed::look, source.withTimer() ? source.clock() : null, source.tokens());
    first.loop().submit((LoopTask) () -> first.loop().register(leases.inUse()));
    this.context =
        new StoreContext(
            store,
            loops,
            leases,
            new StreamContext(
                loops,
                pool,
                unclosed,
                statistics,
                sliceBytes,
                dataTimeoutNanos,
                // Where one thread does everything, no other thread gives memory back.
                source.withTimer() ? Math.min(dataTimeoutNanos, MOST_MEMORY_WAIT_NANOS) : 0,
                configuration.get(ClientKeys.DURABLE_SYNC)),
            new OwnerNames(loops, addresses.size()),
            locations,
            (common, path, node) -> NodeHandles.of(common, path, node, List.of(), 0),
            routes,
            randomizes);
  }

  private static int loopCount(Configuration configuration) {
    int wanted = configuration.get(ClientKeys.LOOPS);
    return wanted > 0
        ? wanted
        : Math.min(Runtime.getRuntime().availableProcessors(), MOST_DEFAULT_LOOPS);
  }

  /** What a datanode on this host would call itself. */
  private static String host(Configuration configuration, NamenodeAddresses addresses) {
    for (String set :
        List.of(configuration.get(ClientKeys.HOST), configuration.get(StorageKeys.HOST))) {
      if (!set.isEmpty()) {
        return set;
      }
    }
    try {
      return LocalHost.address(LocalHost.AUTO, addresses.all()).getHostAddress();
    } catch (IOException e) {
      return LocalHost.hostName();
    }
  }

  private LoopContext newContext(int index) {
    Transport transport = source.transport();
    ClientLoop loop = transport.newClientLoop("client-" + index);
    int outstanding = configuration.get(ClientKeys.OUTSTANDING);
    RpcPeer.Options usual =
        transport
            .peerOptions()
            .withPatienceNanos(configuration.get(ClientKeys.NAMENODE_PATIENCE).toNanos());
    // Room for what the operations themselves ask for; the bound is kept where they are issued.
    RpcPeer.Options options =
        new RpcPeer.Options(
            usual.maxInFlight(),
            Math.max(usual.maxQueued(), 4 * outstanding),
            usual.connectAttempts(),
            usual.connectTimeoutNanos(),
            usual.firstBackOffNanos());
    NameNodeClient namenodes =
        new NameNodeClient(
            loop,
            addresses,
            identity,
            options,
            rpcTimeoutNanos,
            (namenode, hello) -> leases.inUse().greeted(namenode, hello),
            statistics.requestsOf(loop.clock()),
            routes);
    Endpoints endpoints =
        new Endpoints(
            configuration,
            transport,
            loop,
            namenodes,
            source.tiers(),
            mappingWarnings,
            identity.clientId(),
            statistics);
    return new LoopContext(
        loop,
        namenodes,
        endpoints,
        outstanding,
        rpcTimeoutNanos,
        configuration.get(ClientKeys.DATANODE_SILENCE).toNanos(),
        spaceWaits);
  }

  @Override
  public long endpoints() {
    return sum(each -> each.endpoints().size());
  }

  @Override
  public long writeLeases() {
    return leases.inUse().count();
  }

  @Override
  public long outstanding() {
    return sum(each -> each.loop().outstandingOrQueued());
  }

  private long sum(ToLongFunction<LoopContext> figure) {
    long[] sum = {0};
    loops.forEach(each -> sum[0] += figure.applyAsLong(each));
    return sum[0];
  }

  /** What handles and calls share. */
  StoreContext context() {
    return context;
  }

  /** The name under which datanodes of this host are known. */
  String host() {
    return identity.host();
  }

  /** Which directories and tables are spread. */
  SpreadPatterns spreadPatterns() {
    return spreadPatterns;
  }

  /**
   * Gives all leases back, those of open streams too. Waits as long as a metadata operation may
   * take.
   */
  void giveLeasesBack() throws InterruptedException {
    List<StreamContext.Output> open = new ArrayList<>(context.streams().outputs());
    CrailException why = ErrorCode.CLOSED.exception("store");
    List<Ended> ends = new ArrayList<>(open.size());
    for (StreamContext.Output output : open) {
      Ended ended = new Ended();
      ends.add(ended);
      output.end(why, ended::now);
    }
    List<LeaseReturn.Try> unused = leases.unused().releaseAll();
    long deadlineNanos = source.clock().nanoTime() + rpcTimeoutNanos;
    for (int i = 0; i < ends.size(); i++) {
      open.get(i).context().loop().await(ends.get(i), deadlineNanos);
    }
    for (LeaseReturn.Try each : unused) {
      each.awaitEnd(deadlineNanos);
    }
  }

  /** The end of an output stream. */
  private static final class Ended extends Completion {
    void now() {
      succeed();
    }
  }

  /** Fails what is outstanding. */
  @Override
  public void close() {
    leases.close();
    unclosed.close();
    loops.close();
    if (source.ownsTransport()) {
      source.transport().close();
    }
    pool.close();
  }
}
