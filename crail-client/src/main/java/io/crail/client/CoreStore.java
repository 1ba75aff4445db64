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
import io.crail.client.call.AttributeRequests;
import io.crail.client.call.CompoundCall;
import io.crail.client.call.DeleteCall;
import io.crail.client.call.GetCall;
import io.crail.client.call.LinkCall;
import io.crail.client.call.LookupCall;
import io.crail.client.call.NodeCall;
import io.crail.client.call.NodeCreation;
import io.crail.client.call.PutCall;
import io.crail.client.call.RenameCall;
import io.crail.client.call.RootLookup;
import io.crail.client.call.Settlement;
import io.crail.client.call.SpaceUsage;
import io.crail.client.call.StageCall;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.DirectStream;
import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.storage.StorageTier;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** The store: checks what its user asks for, and starts the calls. Thread-safe. */
public final class CoreStore extends CrailStore {
  private final StoreParts parts;
  private final StoreContext store;
  private final LocationHosts hosts;
  private final SpreadPatterns spreadPatterns;
  private final BooleanSupplier mayEnd;

  private CoreStore(StoreParts.Source source, BooleanSupplier mayEnd) {
    this.mayEnd = mayEnd;
    this.parts = new StoreParts(this, source);
    this.store = parts.context();
    this.hosts = new LocationHosts(parts.host(), store.loops());
    this.spreadPatterns = parts.spreadPatterns();
  }

  private CoreStore(CoreStore other, BooleanSupplier mayEnd) {
    this.mayEnd = mayEnd;
    this.parts = other.parts;
    this.store = other.store;
    this.hosts = other.hosts;
    this.spreadPatterns = other.spreadPatterns;
  }

  /** A store for another user that shares everything; each close asks {@code isLastUser}. */
  CoreStore share(BooleanSupplier isLastUser) {
    return new CoreStore(this, isLastUser);
  }

  /**
   * Creates a store with the transport that the configuration names, the system's clock, and a
   * timer for its leases.
   *
   * @param mayEnd asked with each close whether the store has to end
   */
  static CoreStore create(Configuration configuration, BooleanSupplier mayEnd) {
    Transport transport = TransportProvider.open(configuration);
    try {
      return new CoreStore(
          new StoreParts.Source(
              configuration,
              transport,
              Clock.SYSTEM,
              true,
              true,
              StorageTier::find,
              new SecureRandom(),
              ThreadLocalRandom::current),
          mayEnd);
    } catch (RuntimeException e) {
      transport.close();
      throw e;
    }
  }

  /** Creates a store of its own, as programs have them, for an operator's tools. */
  public static CoreStore open(Configuration configuration) {
    return create(configuration, () -> true);
  }

  /**
   * Creates a store on a transport and a clock of the caller, who closes the transport. The store
   * has no thread of its own: leases are renewed while the transport's loops are driven.
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
        new StoreParts.Source(
            configuration,
            transport,
            clock,
            false,
            false,
            tiers,
            new SecureRandom(),
            ThreadLocalRandom::current),
        () -> true);
  }

  /**
   * As {@link #open(Configuration, Transport, Clock, Function)}, with ids and leases from a source
   * of the caller, so that runs can be repeated. Every thread that uses the store draws from that
   * source.
   */
  public static CoreStore open(
      Configuration configuration,
      Transport transport,
      Clock clock,
      Function<String, StorageTier> tiers,
      RandomGenerator random) {
    return new CoreStore(
        new StoreParts.Source(
            configuration, transport, clock, false, false, tiers, random, () -> random),
        () -> true);
  }

  /** The connections of the calling thread, for an operator's tools; they close with the store. */
  public LoopContext connections() throws CrailException {
    store.checkOpen();
    return store.context();
  }

  @Override
  public Upcoming<CrailNode> lookup(String path) throws Exception {
    Objects.requireNonNull(path, "path");
    store.checkOpen();
    LoopContext context = store.context();
    context.throttle();
    Utf8 plain = NodePath.parsePlain(path);
    Utf8 wirePath = plain != null ? plain : NodePath.parse(path);
    String name = plain != null ? path : wirePath.toString();
    NameNodeClient namenodes = context.namenodes();
    if (namenodes.count() > 1 && wirePath.equals(NodePath.ROOT)) {
      return RootLookup.submit(store, context);
    }
    Utf8 routed = namenodes.routed(wirePath);
    RpcPeer peer = namenodes.peer(NodePath.namenodeOf(routed, namenodes.count()));
    LookupCall call = new LookupCall(store, context, peer, name, routed);
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
    return create(path, type, storageClass, locationClass, enumerable, replace, permissions, false);
  }

  @Override
  public Upcoming<CrailNode> createSpread(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable)
      throws Exception {
    int permissions = CrailAttributes.CONTAINER_PERMISSIONS;
    return create(path, type, storageClass, locationClass, enumerable, false, permissions, true);
  }

  private Upcoming<CrailNode> create(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable,
      boolean replace,
      int permissions,
      boolean spread)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(storageClass, "storageClass");
    Objects.requireNonNull(locationClass, "locationClass");
    store.checkOpen();
    Utf8 plain = NodePath.parsePlain(path);
    Utf8 wirePath = plain != null ? plain : NodePath.parse(path);
    String name = plain != null ? path : wirePath.toString();
    NodeType nodeType = NodeType.of(type.getLabel());
    boolean spreads =
        spread
            || (nodeType == NodeType.DIRECTORY || nodeType == NodeType.TABLE)
                && spreadPatterns.match(wirePath);
    LoopContext context = store.context();
    context.throttle();
    wirePath = context.namenodes().routed(wirePath);
    boolean withLease = !nodeType.isContainer() && store.leases().unused().asks();
    Create.Request request =
        new Create.Request(
            nodeType,
            enumerable,
            storageClass.isStrict(),
            replace,
            AttributeRequests.permissions(permissions),
            storageClass.value(),
            withLease ? store.leases().newToken() : 0,
            withLease && nodeType == NodeType.KEYVALUE ? wantedBytes(context, wirePath) : 0,
            wirePath,
            hosts.hostOf(locationClass));
    NodeCreation call =
        spreads
            ? new NodeCreation.OfSpread(store, context, name, request)
            : new NodeCreation(store, context, name, request);
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
    store.checkOpen();
    Utf8 plain = NodePath.parsePlain(path);
    Utf8 wirePath = plain != null ? plain : NodePath.parse(path);
    String name = plain != null ? path : wirePath.toString();
    LoopContext context = store.context();
    context.throttle();
    wirePath = context.namenodes().routed(wirePath);
    int namenode = NodePath.namenodeOf(wirePath, context.namenodes().count());
    boolean carried = value.remaining() <= context.mostWithCreateAt(namenode);
    Put.Draft request = draft(wirePath, value, storageClass, locationClass, enumerable, carried);
    PutCall call = new PutCall(store, context, namenode, name, DirectStream.rootOf(value), request);
    value.position(value.limit());
    call.begin();
    return call;
  }

  private Put.Draft draft(
      Utf8 path,
      CrailBuffer value,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable,
      boolean carried)
      throws CrailException {
    int length = value.remaining();
    return new Put.Draft(
        enumerable,
        storageClass.isStrict(),
        CrailAttributes.FILE_PERMISSIONS,
        storageClass.value(),
        length > 0 ? store.leases().newToken() : 0,
        path,
        hosts.hostOf(locationClass),
        DirectStream.memoryOf(value),
        value.position(),
        length,
        carried);
  }

  @Override
  public Upcoming<StagedBytes> stage(
      String path,
      CrailBuffer bytes,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(bytes, "bytes");
    Objects.requireNonNull(storageClass, "storageClass");
    Objects.requireNonNull(locationClass, "locationClass");
    store.checkOpen();
    if (bytes.remaining() == 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path + ": no bytes to stage");
    }
    Utf8 plain = NodePath.parse(path);
    LoopContext context = store.context();
    context.throttle();
    Utf8 wirePath = context.namenodes().routed(plain);
    StageCall call =
        new StageCall(
            store,
            context,
            NodePath.namenodeOf(wirePath, context.namenodes().count()),
            plain.toString(),
            DirectStream.rootOf(bytes),
            draft(wirePath, bytes, storageClass, locationClass, true, false));
    bytes.position(bytes.limit());
    call.begin();
    return call;
  }

  @Override
  public Upcoming<CrailResult> get(String path, CrailBuffer target) throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(target, "target");
    store.checkOpen();
    Utf8 wirePath = NodePath.parse(path);
    LoopContext context = store.context();
    context.throttle();
    GetCall call =
        new GetCall(
            store,
            context,
            wirePath,
            DirectStream.memoryOf(target),
            DirectStream.rootOf(target),
            target.position(),
            target.remaining());
    call.begin();
    return call;
  }

  @Override
  public Upcoming<CompoundResult> operate(String path, CompoundOperation operation)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(operation, "operation");
    store.checkOpen();
    Utf8 wirePath = NodePath.parse(path);
    LoopContext context = store.context();
    context.throttle();
    CompoundCall call =
        new CompoundCall(context, wirePath, operation, CrailAttributes.FILE_PERMISSIONS);
    if (operation.staged() != null) {
      LinkCall link = new LinkCall(call, operation.staged());
      link.begin();
      return link;
    }
    call.submit();
    return call;
  }

  @Override
  public boolean settle(String path) throws Exception {
    return Settlement.of(this, path);
  }

  /**
   * The space that a key-value is expected to need; 0 for a small one. Also 0 for a value that
   * needs more than the smallest extent. A smallest extent that stays unused is given back. A
   * larger extent would stay with a value that turns out to be shorter.
   */
  private long wantedBytes(LoopContext context, Utf8 path) {
    int namenode = NodePath.namenodeOf(path, context.namenodes().count());
    long expected = store.streams().lastValueBytes();
    boolean fits = expected <= Extent.MIN_LENGTH && expected > context.smallValueAt(namenode);
    return fits ? expected : 0;
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
    store.checkOpen();
    Utf8 from = NodePath.parse(source);
    Utf8 to = NodePath.parse(target);
    LoopContext context = store.context();
    context.throttle();
    RenameCall call = new RenameCall(store, context, new Rename.Request(replace, from, to));
    call.submit();
    return call;
  }

  @Override
  public Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes)
      throws Exception {
    Objects.requireNonNull(path, "path");
    Objects.requireNonNull(changes, "changes");
    store.checkOpen();
    SetAttributes.Request request = AttributeRequests.of(NodePath.parse(path), changes);
    LoopContext context = store.context();
    context.throttle();
    if (request.path().equals(NodePath.ROOT)) {
      for (int i = 1; i < context.namenodes().count(); i++) {
        context.namenodes().callAt(i, NameNodeOperations.SET_ATTRIBUTES, request).join();
      }
    }
    String name = request.path().toString();
    NodeCall<SetAttributes.Request, SetAttributes.Response> call =
        new NodeCall<>(
            store,
            context,
            NameNodeOperations.SET_ATTRIBUTES,
            request,
            name,
            name,
            SetAttributes.Response::node);
    call.submit();
    return call;
  }

  @Override
  public Upcoming<CrailNode> delete(String path, boolean recursive) throws Exception {
    Objects.requireNonNull(path, "path");
    store.checkOpen();
    Utf8 wirePath = NodePath.parse(path);
    LoopContext context = store.context();
    context.throttle();
    DeleteCall call = new DeleteCall(store, context, wirePath, recursive);
    call.submit();
    return call;
  }

  @Override
  public CrailBuffer allocateBuffer() throws Exception {
    store.checkOpen();
    return store.streams().pool().allocateBuffer();
  }

  @Override
  public void freeBuffer(CrailBuffer buffer) throws Exception {
    store.streams().pool().freeBuffer(buffer);
  }

  @Override
  public long getBlockSize() throws Exception {
    store.checkOpen();
    return SpaceUsage.blockBytes(store.context());
  }

  @Override
  public int getBufferSize() {
    return store.streams().pool().bufferBytes();
  }

  @Override
  public int getSliceSize() {
    return store.streams().sliceBytes();
  }

  @Override
  public CrailSpace getSpace() throws Exception {
    store.checkOpen();
    LoopContext context = store.context();
    context.throttle();
    return SpaceUsage.ask(context.namenodes());
  }

  @Override
  public CrailStatistics getStatistics() {
    return store.streams().statistics().statistics();
  }

  @Override
  public CrailLocationClass getLocationClass() {
    return hosts.own();
  }

  @Override
  public void close() throws Exception {
    if (store.loops().isDriver()) {
      // The callback holds a loop, which cannot end now. The store stays open and can be closed
      // later.
      throw new IllegalStateException("a callback must not close its store");
    }
    if (!mayEnd.getAsBoolean() || !store.loops().end()) {
      return;
    }
    try {
      parts.giveLeasesBack();
    } finally {
      parts.close();
    }
  }
}
