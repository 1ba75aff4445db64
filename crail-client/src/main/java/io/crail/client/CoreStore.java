/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailAttributeChanges;
import io.crail.CrailAttributes;
import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailSpace;
import io.crail.CrailStatistics;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.memory.BufferPool;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.LocalHost;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.LoggerFactory;

/**
 * The client. A thread uses the loop that its id selects, with connections of its own, so threads
 * on different loops share nothing on the way of an operation. Thread-safe.
 */
public final class CoreStore extends CrailStore {
  private static final int MOST_DEFAULT_LOOPS = 4;

  private final Configuration configuration;
  private final Transport transport;
  private final boolean ownsTransport;
  private final Function<String, StorageTier> tiers;
  private final Clock clock;
  private final List<InetSocketAddress> addresses;
  private final NameNodeClient.Identity identity;
  private final CrailLocationClass location;
  private final long rpcTimeoutNanos;
  private final long dataTimeoutNanos;
  private final int sliceBytes;
  private final boolean randomizesListings;
  private final BufferPool pool;
  private final StoreStatistics statistics;
  private final BlockLocations locations;
  private final MappingWarnings mappingWarnings =
      new MappingWarnings(LoggerFactory.getLogger(CoreStore.class));
  private final AtomicReferenceArray<LoopContext> contexts;
  private final Set<DirectOutput> outputs = ConcurrentHashMap.newKeySet();
  private final OwnerNames userNames;
  private final CreatorLeases creatorLeases = new CreatorLeases();
  private final DoubtfulCreates doubtfulCreates = new DoubtfulCreates();
  private final SpaceAhead spaceAhead = new SpaceAhead();
  private final boolean asksForSpaceAhead;
  private final WriteLeases leases;
  private final LeaseTimer timer;
  private final Supplier<? extends RandomGenerator> random;

  /** Bytes of the key-value that was written last, for the next one may be as long. */
  private volatile long lastValueBytes;

  private volatile boolean closed;

  private CoreStore(
      Configuration configuration,
      Transport transport,
      Clock clock,
      boolean ownsTransport,
      boolean withTimer,
      Function<String, StorageTier> tiers,
      RandomGenerator idSource,
      Supplier<? extends RandomGenerator> random) {
    this.random = random;
    this.configuration = configuration;
    this.transport = transport;
    this.clock = clock;
    this.ownsTransport = ownsTransport;
    this.tiers = tiers;
    this.addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    this.rpcTimeoutNanos = configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos();
    this.dataTimeoutNanos = configuration.get(ClientKeys.DATA_TIMEOUT).toNanos();
    this.sliceBytes = sliceBytes(configuration);
    this.randomizesListings = configuration.get(ClientKeys.DIRECTORY_RANDOMIZE);
    this.asksForSpaceAhead = configuration.get(ClientKeys.SPACE_AHEAD);
    String host = host(configuration, addresses);
    this.location = CrailLocationClass.of(host);
    this.identity =
        new NameNodeClient.Identity(
            Hello.ROLE_CLIENT,
            idSource.nextLong(),
            host,
            configuration.get(ClusterKeys.CLUSTER_NAME),
            ClusterKeys.user(configuration));
    this.pool =
        new BufferPool(
            configuration.get(ClientKeys.BUFFER_SIZE).intValue(),
            configuration.get(ClientKeys.CACHE_LIMIT));
    this.userNames = new OwnerNames(this, addresses.size());
    this.contexts = new AtomicReferenceArray<>(loopCount(configuration));
    this.statistics =
        new StoreStatistics(configuration.get(ClientKeys.STATISTICS), pool, this::endpointCount);
    this.locations =
        new BlockLocations(
            LocationMap.parse(configuration.get(ClientKeys.LOCATION_MAP)),
            configuration.get(ClientKeys.SHADOW_REPLICATION));
    LoopContext first = newContext(0);
    contexts.set(0, first);
    this.leases =
        new WriteLeases(first, identity.clientId(), creatorLeases, doubtfulCreates, spaceAhead);
    first.loop().submit((ClientLoop.Task) () -> first.loop().register(leases));
    this.timer = withTimer ? new LeaseTimer(leases, clock) : null;
  }

  /**
   * Creates a store with the transport that the configuration names, the system's clock, and a
   * timer for its leases.
   */
  public static CoreStore create(Configuration configuration) {
    Transport transport = TransportProvider.open(configuration);
    try {
      return new CoreStore(
          configuration,
          transport,
          Clock.SYSTEM,
          true,
          true,
          StorageTier::find,
          new SecureRandom(),
          ThreadLocalRandom::current);
    } catch (RuntimeException e) {
      transport.close();
      throw e;
    }
  }

  /**
   * Creates a store on a transport and a clock of the caller, who closes the transport. It has no
   * thread of its own: leases are renewed while the transport's loops are driven.
   */
  public static CoreStore open(Configuration configuration, Transport transport, Clock clock) {
    return open(configuration, transport, clock, StorageTier::find);
  }

  /**
   * As {@link #open(Configuration, Transport, Clock)}, with tiers of the caller, by their names.
   */
  public static CoreStore open(
      Configuration configuration,
      Transport transport,
      Clock clock,
      Function<String, StorageTier> tiers) {
    return new CoreStore(
        configuration,
        transport,
        clock,
        false,
        false,
        tiers,
        new SecureRandom(),
        ThreadLocalRandom::current);
  }

  /**
   * As {@link #open(Configuration, Transport, Clock, Function)}, with ids and leases from a source
   * of the caller, which every thread that uses the store draws from: for runs that can be
   * repeated.
   */
  public static CoreStore open(
      Configuration configuration,
      Transport transport,
      Clock clock,
      Function<String, StorageTier> tiers,
      RandomGenerator random) {
    return new CoreStore(
        configuration, transport, clock, false, false, tiers, random, () -> random);
  }

  private static int sliceBytes(Configuration configuration) {
    long buffer = configuration.get(ClientKeys.BUFFER_SIZE);
    long slice = configuration.get(ClientKeys.SLICE_SIZE);
    if (buffer % slice != 0) {
      throw new ConfigException(
          "key '"
              + ClientKeys.SLICE_SIZE
              + "' has the bad value "
              + slice
              + ": it must divide "
              + ClientKeys.BUFFER_SIZE
              + " ("
              + buffer
              + ")");
    }
    return (int) slice;
  }

  private static int loopCount(Configuration configuration) {
    int wanted = configuration.get(ClientKeys.LOOPS);
    return wanted > 0
        ? wanted
        : Math.min(Runtime.getRuntime().availableProcessors(), MOST_DEFAULT_LOOPS);
  }

  /** What a datanode on this host would call itself. */
  private static String host(Configuration configuration, List<InetSocketAddress> addresses) {
    for (String set :
        List.of(configuration.get(ClientKeys.HOST), configuration.get(StorageKeys.HOST))) {
      if (!set.isEmpty()) {
        return set;
      }
    }
    try {
      return LocalHost.address(LocalHost.AUTO, addresses).getHostAddress();
    } catch (IOException e) {
      return LocalHost.hostName();
    }
  }

  /**
   * The connections that the calling thread uses.
   *
   * @throws CrailException with CLOSED when they would have to be made after the end of the store
   */
  LoopContext context() throws CrailException {
    int index = (int) (Thread.currentThread().getId() % contexts.length());
    LoopContext context = contexts.get(index);
    return context != null ? context : context(index);
  }

  private LoopContext context(int index) throws CrailException {
    synchronized (contexts) {
      LoopContext present = contexts.get(index);
      if (present != null) {
        return present;
      }
      checkOpen();
      LoopContext context = newContext(index);
      contexts.set(index, context);
      return context;
    }
  }

  private LoopContext newContext(int index) {
    ClientLoop loop = transport.newClientLoop("client-" + index);
    int outstanding = configuration.get(ClientKeys.OUTSTANDING);
    RpcPeer.Options usual = transport.peerOptions();
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
            (namenode, hello) -> leases.greeted(namenode, hello));
    Endpoints endpoints =
        new Endpoints(
            configuration, transport, loop, namenodes, tiers, mappingWarnings, identity.clientId());
    return new LoopContext(
        loop,
        namenodes,
        endpoints,
        outstanding,
        rpcTimeoutNanos,
        configuration.get(ClientKeys.DATANODE_SILENCE).toNanos());
  }

  private long endpointCount() {
    long count = 0;
    for (int i = 0; i < contexts.length(); i++) {
      LoopContext context = contexts.get(i);
      count += context == null ? 0 : context.endpoints().size();
    }
    return count;
  }

  /**
   * Checks that the store is open.
   *
   * @throws CrailException with CLOSED
   */
  void checkOpen() throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("store");
    }
  }

  long dataTimeoutNanos() {
    return dataTimeoutNanos;
  }

  int sliceBytes() {
    return sliceBytes;
  }

  boolean randomizesListings() {
    return randomizesListings;
  }

  BufferPool pool() {
    return pool;
  }

  StoreStatistics statistics() {
    return statistics;
  }

  /** The names of owners and groups. */
  OwnerNames userNames() {
    return userNames;
  }

  BlockLocations locations() {
    return locations;
  }

  WriteLeases leases() {
    return leases;
  }

  /** The leases that came with created nodes and are not used. */
  CreatorLeases creatorLeases() {
    return creatorLeases;
  }

  /** The creates of which nobody knows whether they have taken place. */
  DoubtfulCreates doubtfulCreates() {
    return doubtfulCreates;
  }

  /** Space for values that are not put yet. */
  SpaceAhead spaceAhead() {
    return spaceAhead;
  }

  /** A write lease of a new handle. */
  long newToken() {
    long token = 0;
    while (token == 0) {
      token = random.get().nextLong();
    }
    return token;
  }

  /** Remembers an output stream until it is closed. */
  void register(DirectOutput output) throws CrailException {
    outputs.add(output);
    leasesHeld();
  }

  /** There is a lease that may have to be renewed, or space that may have to be given back. */
  void leasesHeld() {
    if (timer != null) {
      timer.wake();
    }
  }

  /** The open output streams; a view. */
  Set<DirectOutput> outputs() {
    return outputs;
  }

  /** Forgets a closed output stream. */
  void unregister(DirectOutput output) {
    outputs.remove(output);
  }

  @Override
  public Upcoming<CrailNode> lookup(String path) throws Exception {
    Objects.requireNonNull(path, "path");
    checkOpen();
    LoopContext context = context();
    context.throttle();
    Utf8 plain = NodePath.parsePlain(path);
    Utf8 wirePath = plain != null ? plain : NodePath.parse(path);
    String name = plain != null ? path : wirePath.toString();
    NameNodeClient namenodes = context.namenodes();
    if (namenodes.count() > 1 && wirePath.equals(NodePath.ROOT)) {
      return RootLookup.submit(this, context);
    }
    RpcPeer peer = namenodes.peer(NodePath.namenodeOf(wirePath, namenodes.count()));
    LookupCall call = new LookupCall(this, context, peer, name, wirePath);
    call.submit();
    return call;
  }

  @Override
  public Upcoming<CrailNode> create(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable)
      throws Exception {
    Objects.requireNonNull(type, "type");
    int permissions =
        type.isContainer()
            ? CrailAttributes.CONTAINER_PERMISSIONS
            : CrailAttributes.FILE_PERMISSIONS;
    return create(path, type, storageClass, locationClass, enumerable, false, permissions);
  }

  @Override
  public Upcoming<CrailNode> create(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable,
      boolean replace,
      int permissions)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(storageClass, "storageClass");
    Objects.requireNonNull(locationClass, "locationClass");
    checkOpen();
    Utf8 wirePath = NodePath.parse(path);
    NodeType nodeType = NodeType.of(type.getLabel());
    LoopContext context = context();
    context.throttle();
    long token = !nodeType.isContainer() && creatorLeases.asks() ? newToken() : 0;
    long wanted = token != 0 && nodeType == NodeType.KEYVALUE ? wantedBytes(context, wirePath) : 0;
    Create.Request request =
        new Create.Request(
            nodeType,
            enumerable,
            storageClass.isStrict(),
            replace,
            false,
            requirePermissions(permissions),
            storageClass.value(),
            token,
            wanted,
            wirePath,
            hostOf(locationClass),
            SmallValue.NONE);
    String name = wirePath.toString();
    NodeCreation call = new NodeCreation(context, name, request);
    CoreNode node = CoreNode.creating(this, name, nodeType, call, token);
    call.node(node);
    if (token != 0) {
      // Before the node can be met.
      creatorLeases.created((CoreFile) node);
    }
    call.submit();
    return call;
  }

  @Override
  public Upcoming<CrailKeyValue> put(
      String path,
      CrailBuffer value,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(storageClass, "storageClass");
    Objects.requireNonNull(locationClass, "locationClass");
    checkOpen();
    Utf8 plain = NodePath.parsePlain(path);
    Utf8 wirePath = plain != null ? plain : NodePath.parse(path);
    LoopContext context = context();
    context.throttle();
    ByteBuffer memory = DirectStream.memoryOf(value);
    int length = value.remaining();
    int namenode = NodePath.namenodeOf(wirePath, context.namenodes().count());
    boolean carried = length <= context.mostWithCreateAt(namenode);
    Create.Put request =
        new Create.Put(
            enumerable,
            storageClass.isStrict(),
            CrailAttributes.FILE_PERMISSIONS,
            storageClass.value(),
            length > 0 ? newToken() : 0,
            wirePath,
            hostOf(locationClass),
            memory,
            value.position(),
            length,
            carried);
    String name = plain != null ? path : wirePath.toString();
    PutCall call =
        new PutCall(
            this,
            context,
            context.namenodes().peer(namenode),
            name,
            DirectStream.rootOf(value),
            request,
            carried || !asksForSpaceAhead ? null : kindOf(context, namenode, name, request));
    value.position(value.limit());
    call.begin();
    return call;
  }

  @Override
  public Upcoming<CrailResult> get(String path, CrailBuffer target) throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(target, "target");
    checkOpen();
    Utf8 wirePath = NodePath.parse(path);
    LoopContext context = context();
    context.throttle();
    GetCall call =
        new GetCall(
            this,
            context,
            wirePath,
            DirectStream.memoryOf(target),
            DirectStream.rootOf(target),
            target.position(),
            target.remaining());
    call.begin();
    return call;
  }

  /** What a value has in common with others that are put; null when it is of no use to know. */
  private static SpaceAhead.Kind kindOf(
      LoopContext context, int namenode, String path, Create.Put request) {
    int block = context.blockBytesAt(namenode);
    if (request.length() > block) {
      return null;
    }
    return new SpaceAhead.Kind(
        namenode,
        path.substring(0, path.lastIndexOf('/')),
        request.storageClass(),
        request.strict(),
        request.host(),
        Extent.lengthFor(request.length(), block));
  }

  /**
   * What a key-value is expected to need of space; 0 for a small one. Also for one that needs more
   * than the smallest extent: that is given back if nobody writes to it, and another would stay
   * with a value that turns out to be shorter.
   */
  private long wantedBytes(LoopContext context, Utf8 path) {
    int namenode = NodePath.namenodeOf(path, context.namenodes().count());
    long expected = lastValueBytes;
    boolean fits = expected <= Extent.MIN_LENGTH && expected > context.smallValueAt(namenode);
    return fits ? expected : 0;
  }

  /** Tells how long a key-value has become. */
  void valueWritten(long bytes) {
    if (lastValueBytes != bytes) {
      lastValueBytes = bytes;
    }
  }

  private static int requirePermissions(int permissions) throws CrailException {
    if ((permissions & ~NodeInfo.PERMISSIONS) != 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "permission bits 0" + Integer.toOctalString(permissions));
    }
    return permissions;
  }

  private Utf8 hostOf(CrailLocationClass wanted) throws CrailException {
    if (wanted.value() == CrailLocationClass.PARENT.value()) {
      return Create.PARENT_HOST;
    }
    if (wanted.host() != null) {
      return Utf8.of(wanted.host());
    }
    if (wanted.equals(location)) {
      return Utf8.of(location.host());
    }
    for (int i = 0; i < contexts.length(); i++) {
      LoopContext context = contexts.get(i);
      if (context != null) {
        for (DatanodeDescription datanode : context.endpoints().known()) {
          String host = datanode.address().getHostString();
          if (CrailLocationClass.of(host).equals(wanted)) {
            return Utf8.of(host);
          }
        }
      }
    }
    throw ErrorCode.INVALID_ARGUMENT.exception(
        "location class " + wanted + " is of no host known here; use CrailLocationClass.of(host)");
  }

  @Override
  public Upcoming<CrailNode> rename(String source, String target) throws Exception {
    return rename(source, target, false);
  }

  @Override
  public Upcoming<CrailNode> rename(String source, String target, boolean replace)
      throws Exception {
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(target, "target");
    checkOpen();
    Utf8 from = NodePath.parse(source);
    Utf8 to = NodePath.parse(target);
    LoopContext context = context();
    int count = context.namenodes().count();
    boolean root = from.equals(NodePath.ROOT) || to.equals(NodePath.ROOT);
    if (!root && NodePath.namenodeOf(from, count) != NodePath.namenodeOf(to, count)) {
      throw ErrorCode.CROSS_NAMENODE.exception(from + " to " + to);
    }
    context.throttle();
    Rename.Request request = new Rename.Request(replace, from, to);
    String name = to.toString();
    NodeCall<Rename.Request, Rename.Response> call =
        new NodeCall<>(
            context,
            NameNodeOperations.RENAME,
            from + " to " + name,
            response -> CoreNode.of(this, name, response.node(), List.of(), 0));
    call.prepare(
        context.namenodes().route(NameNodeOperations.RENAME, request),
        request,
        context.namenodes().newDeadlineNanos());
    call.submit();
    return call;
  }

  @Override
  public Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(changes, "changes");
    checkOpen();
    SetAttributes.Request request = request(NodePath.parse(path), changes);
    LoopContext context = context();
    context.throttle();
    if (request.path().equals(NodePath.ROOT)) {
      for (int i = 1; i < context.namenodes().count(); i++) {
        context.namenodes().callAt(i, NameNodeOperations.SET_ATTRIBUTES, request).join();
      }
    }
    String name = request.path().toString();
    NodeCall<SetAttributes.Request, SetAttributes.Response> call =
        new NodeCall<>(
            context,
            NameNodeOperations.SET_ATTRIBUTES,
            name,
            response -> CoreNode.of(this, name, response.node(), List.of(), 0));
    call.prepare(
        context.namenodes().route(NameNodeOperations.SET_ATTRIBUTES, request),
        request,
        context.namenodes().newDeadlineNanos());
    call.submit();
    return call;
  }

  private static SetAttributes.Request request(Utf8 path, CrailAttributeChanges changes)
      throws CrailException {
    int which =
        (changes.permissions() == null ? 0 : SetAttributes.PERMISSIONS)
            | (changes.owner() == null ? 0 : SetAttributes.OWNER)
            | (changes.group() == null ? 0 : SetAttributes.GROUP)
            | (changes.modificationTime() == null ? 0 : SetAttributes.MODIFIED)
            | (changes.accessTime() == null ? 0 : SetAttributes.ACCESSED);
    return new SetAttributes.Request(
        which,
        changes.permissions() == null ? 0 : requirePermissions(changes.permissions()),
        changes.modificationTime() == null ? 0 : changes.modificationTime(),
        changes.accessTime() == null ? 0 : changes.accessTime(),
        path,
        userName(changes.owner()),
        userName(changes.group()));
  }

  private static Utf8 userName(String name) throws CrailException {
    if (name == null) {
      return Utf8.EMPTY;
    }
    String wrong = TextLimits.checkUser(Utf8.of(name));
    if (wrong != null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "name of a user or group '" + name + "': " + wrong);
    }
    return Utf8.of(name);
  }

  @Override
  public Upcoming<CrailNode> delete(String path, boolean recursive) throws Exception {
    Objects.requireNonNull(path, "path");
    checkOpen();
    Utf8 wirePath = NodePath.parse(path);
    LoopContext context = context();
    context.throttle();
    DeleteCall call = new DeleteCall(this, context, wirePath, recursive);
    call.submit();
    return call;
  }

  @Override
  public CrailBuffer allocateBuffer() throws Exception {
    checkOpen();
    return pool.allocateBuffer();
  }

  @Override
  public void freeBuffer(CrailBuffer buffer) throws Exception {
    Objects.requireNonNull(buffer, "buffer");
    pool.freeBuffer(buffer);
  }

  @Override
  public CrailSpace getSpace() throws Exception {
    checkOpen();
    LoopContext context = context();
    context.throttle();
    return SpaceUsage.ask(context.namenodes());
  }

  @Override
  public CrailStatistics getStatistics() {
    return statistics.statistics();
  }

  @Override
  public CrailLocationClass getLocationClass() {
    return location;
  }

  @Override
  public void close() throws Exception {
    checkNoCallback();
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    try {
      giveLeasesBack();
    } finally {
      release();
    }
  }

  /** A callback holds a loop, which cannot end then; the store stays open for another close. */
  private void checkNoCallback() {
    for (int i = 0; i < contexts.length(); i++) {
      LoopContext context = contexts.get(i);
      if (context != null && context.loop().isDriver()) {
        throw new IllegalStateException("a callback must not close its store");
      }
    }
  }

  /**
   * Gives all leases back, also those of open streams, as long as a metadata operation may take.
   */
  private void giveLeasesBack() throws InterruptedException {
    List<DirectOutput> open = new ArrayList<>(outputs);
    CrailException why = ErrorCode.CLOSED.exception("store");
    List<Ended> ends = new ArrayList<>(open.size());
    for (DirectOutput output : open) {
      Ended ended = new Ended();
      ends.add(ended);
      output.end(why, ended::now);
    }
    List<LeaseReturn.Try> unused = creatorLeases.releaseAll();
    long deadlineNanos = clock.nanoTime() + rpcTimeoutNanos;
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

  private void release() {
    if (timer != null) {
      timer.close();
    }
    synchronized (contexts) {
      for (int i = 0; i < contexts.length(); i++) {
        LoopContext context = contexts.get(i);
        if (context != null) {
          context.close();
        }
      }
    }
    if (ownsTransport) {
      transport.close();
    }
    pool.close();
  }
}
