/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.change.Change;
import io.crail.namenode.change.ChangeSink;
import io.crail.namenode.change.Replay;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.rule.DatanodeRule;
import io.crail.namenode.user.Logins;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationServer;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Put;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A namenode with a manual clock, and short forms of what tests do with it. */
public final class TestStore {
  public static final long CLIENT = 77;
  static final long SECONDS = 1000;
  public static final int BLOCK = 1 << 20;

  public final ManualClock clock;
  public final NameNode namenode;
  public final OperationServer server;
  public final Wire wire;
  final Wire datanodeWire;
  private final Wire namenodeWire;

  public TestStore(String... settings) throws CrailException {
    this(new ManualClock(), 0, 1, settings);
  }

  public TestStore(ManualClock clock, int index, int count, String... settings)
      throws CrailException {
    this(new Random(1), clock, index, count, settings);
  }

  /** A namenode whose changes are reported. */
  public TestStore(ManualClock clock, ChangeSink sink, String... settings) throws CrailException {
    this(new Random(1), clock, 0, 1, sink, settings);
  }

  /** One of several namenodes, whose changes are reported. */
  public TestStore(ManualClock clock, int index, int count, ChangeSink sink) throws CrailException {
    this(new Random(1), clock, index, count, sink, new String[0]);
  }

  public TestStore(Random random, ManualClock clock, int index, int count, String... settings)
      throws CrailException {
    this(random, clock, index, count, null, settings);
  }

  private TestStore(
      Random random, ManualClock clock, int index, int count, ChangeSink sink, String... settings)
      throws CrailException {
    this(
        new NameNode(
            NameNodeOptions.of(configuration(settings), index, count),
            clock,
            random,
            sink,
            NameNode.ALONE),
        clock);
  }

  private TestStore(NameNode namenode, ManualClock clock) throws CrailException {
    this.clock = clock;
    this.namenode = namenode;
    this.server = NameNodeService.create(namenode, null, Leadership.ALONE, Logins.ANYBODY, Map::of);
    this.wire = Wire.connect(server, CLIENT);
    this.datanodeWire = Wire.connect(server, Hello.ROLE_DATANODE, CLIENT + 1);
    this.namenodeWire = Wire.connect(server, Hello.ROLE_NAMENODE, CLIENT + 2);
  }

  /**
   * A namenode that is made of its log, and makes a snapshot of that if there are enough records.
   */
  static TestStore durable(LogHome home, ManualClock clock, Random random)
      throws CrailException, IOException {
    return durable(home, clock, random, 1);
  }

  /** As the other one, for the first of several namenodes. */
  static TestStore durable(
      LogHome home, ManualClock clock, Random random, int count, String... settings)
      throws CrailException, IOException {
    NameNodeOptions options = NameNodeOptions.of(configuration(settings), 0, count);
    NameNodeLog log =
        NameNodeLog.open(home.directory(), home, options, clock, random, NameNode.ALONE);
    log.checkpoints().tick(log.namenode().tree().size());
    return of(log, clock);
  }

  static TestStore of(NameNodeLog log, ManualClock clock) throws CrailException {
    return new TestStore(log.namenode(), clock);
  }

  private static Configuration configuration(String... settings) throws CrailException {
    Configuration.Builder builder = Configuration.builder();
    for (int i = 0; i < settings.length; i += 2) {
      builder.set(settings[i], settings[i + 1], "a test");
    }
    return builder.build();
  }

  /** A namenode that is made of the records of the changes of this one. */
  public TestStore replayed(List<Change> records) throws CrailException {
    return replayed(records, 0);
  }

  /** A namenode that is made of the records that this one's state is made of. */
  public TestStore copied() throws CrailException {
    List<Change> state = new ArrayList<>();
    namenode.writeState(state::add);
    return replayed(state);
  }

  /** A namenode that is made of a snapshot of what some of the records make, and of the others. */
  public TestStore checkpointed(List<Change> records, int covered) throws CrailException {
    List<Change> all = new ArrayList<>();
    replayed(records.subList(0, covered)).namenode.writeState(all::add);
    all.addAll(records.subList(covered, records.size()));
    return replayed(all);
  }

  /** As the other method, where each record takes so long. */
  TestStore replayed(List<Change> records, long millis) throws CrailException {
    return replayed(records, millis, namenode.options());
  }

  /** As the other method, with other settings. */
  TestStore replayed(List<Change> records, String... settings) throws CrailException {
    return replayed(records, 0, NameNodeOptions.of(configuration(settings), 0, 1));
  }

  private TestStore replayed(List<Change> records, long millis, NameNodeOptions options)
      throws CrailException {
    NameNode next =
        new NameNode(options, clock, new Random(2), null, NameNode.ALONE, namenode.lineage());
    Replay replay = next.replay();
    for (Change record : records) {
      clock.advanceMillis(millis);
      replay.apply(record);
    }
    replay.end();
    return new TestStore(next, clock);
  }

  /** The seed of a random test: the given one, or the system property, or a new one; printed. */
  public static long seed() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("crail.seed=" + seed);
    return seed;
  }

  public <Q, R> R call(Operation<Q, R> operation, Q request) throws CrailException {
    return wire(operation).call(operation, request);
  }

  /** The connection that an operation is sent on. */
  Wire wire(Operation<?, ?> operation) {
    if (operation == NameNodeOperations.SET_SHARE
        || operation == NameNodeOperations.CHECK_SHARES
        || operation == NameNodeOperations.LEND_QUOTA) {
      return namenodeWire;
    }
    boolean datanodes =
        operation == NameNodeOperations.REGISTER_DATANODE
            || operation == NameNodeOperations.REGISTER_REGION
            || operation == NameNodeOperations.KEEP_ALIVE;
    return datanodes ? datanodeWire : wire;
  }

  /** A client that has logged in. */
  public static Caller caller(String user) {
    return new Caller(new Principal(Principal.Role.CLIENT, Utf8.of(user)), 1, Right.ALL);
  }

  public static Create.Request creation(NodeType type, String path, long token) {
    return creation(type, Utf8.of(path), token);
  }

  /** As the other method, for a path as it travels. */
  public static Create.Request creation(NodeType type, Utf8 path, long token) {
    return new Create.Request(
        type, true, false, false, 0644, Create.PARENT_CLASS, token, path, Utf8.EMPTY);
  }

  /** The put of a value that the namenode is to keep. */
  public static Put.Request put(String path, long token, byte[] value) {
    return put(path, token, value.length, SmallValue.of(value));
  }

  /** The put of a value that goes elsewhere. */
  public static Put.Request put(String path, long token, long length) {
    return put(path, token, length, SmallValue.NONE);
  }

  public static Put.Request put(String path, long token, long length, SmallValue value) {
    return new Put.Request(
        true,
        false,
        0644,
        Create.PARENT_CLASS,
        token,
        length,
        Utf8.of(path),
        Create.PARENT_HOST,
        value);
  }

  public NodeInfo create(NodeType type, String path, long token) throws CrailException {
    return call(NameNodeOperations.CREATE, creation(type, path, token)).node();
  }

  public NodeInfo mkdir(String path) throws CrailException {
    return create(NodeType.DIRECTORY, path, 0);
  }

  public NodeInfo file(String path) throws CrailException {
    return create(NodeType.DATAFILE, path, 0);
  }

  /** Creates a file of {@code size} bytes and closes it. */
  public NodeInfo write(String path, long size) throws CrailException {
    return write(create(NodeType.DATAFILE, path, 9), size);
  }

  public NodeInfo write(NodeInfo node, long size) throws CrailException {
    long end = 0;
    while (end < size) {
      List<Extent> extents = extend(node.id(), 9, end, size - end);
      end = extents.get(extents.size() - 1).fileEnd();
    }
    return setSize(node.id(), 9, size, SetSize.END);
  }

  public Lookup.Response lookup(String path) throws CrailException {
    return call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(path)));
  }

  public NodeInfo remove(String path, boolean recursive) throws CrailException {
    return call(NameNodeOperations.REMOVE, new Remove.Request(recursive, Utf8.of(path))).node();
  }

  public NodeInfo rename(String source, String target) throws CrailException {
    return call(
            NameNodeOperations.RENAME, new Rename.Request(false, Utf8.of(source), Utf8.of(target)))
        .node();
  }

  /** Creates a file in the place of what is there. */
  NodeInfo replace(String path, long token) throws CrailException {
    return call(NameNodeOperations.CREATE, replacement(NodeType.DATAFILE, path, token)).node();
  }

  public static Create.Request replacement(NodeType type, String path, long token) {
    return new Create.Request(
        type, true, false, true, 0644, Create.PARENT_CLASS, token, Utf8.of(path), Utf8.EMPTY);
  }

  /** Renames to the place of what is there. */
  public NodeInfo renameOver(String source, String target) throws CrailException {
    return call(
            NameNodeOperations.RENAME, new Rename.Request(true, Utf8.of(source), Utf8.of(target)))
        .node();
  }

  public List<Extent> extend(long id, long token, long position, long wanted)
      throws CrailException {
    return call(NameNodeOperations.EXTEND, new Extend.Request(id, token, position, wanted, -1))
        .extents();
  }

  public NodeInfo setSize(long id, long token, long size, int close) throws CrailException {
    return call(NameNodeOperations.SET_SIZE, new SetSize.Request(id, token, size, close)).node();
  }

  public AcquireLease.Response acquire(long id, long token) throws CrailException {
    return call(NameNodeOperations.ACQUIRE_LEASE, new AcquireLease.Request(id, token));
  }

  public FindExtents.Response find(long id, long position) throws CrailException {
    return call(NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(id, position, 64));
  }

  /** The names of all listed children, page by page. */
  public List<String> list(long id, int pageSize) throws CrailException {
    List<String> names = new ArrayList<>();
    long cursor = 0;
    while (cursor >= 0) {
      ListNodes.Response page =
          call(NameNodeOperations.LIST_NODES, new ListNodes.Request(id, cursor, pageSize));
      page.entries().forEach(entry -> names.add(entry.name().toString()));
      cursor = page.next();
    }
    return names;
  }

  public static RegisterDatanode.Request registration(
      long uuid, String host, int port, int storageClass, boolean checks) {
    return registration(
        uuid,
        host,
        port,
        storageClass,
        TierTraits.ofMemory(checks ? FenceKind.GENERATION : FenceKind.CUT_OFF, true, ""));
  }

  /** As the other one, of a tier with these traits. */
  public static RegisterDatanode.Request registration(
      long uuid, String host, int port, int storageClass, TierTraits traits) {
    return new RegisterDatanode.Request(
        uuid, uuid, storageClass, port, false, false, Utf8.of("tcp"), Utf8.of(host), traits);
  }

  /** Registers a datanode at {@code host:1000+uuid} with one region. */
  public int datanode(long uuid, String host, int storageClass, boolean checks, long bytes)
      throws CrailException {
    int id =
        call(
                NameNodeOperations.REGISTER_DATANODE,
                registration(uuid, host, (int) (1000 + uuid), storageClass, checks))
            .datanode();
    region(id, 0, bytes);
    return id;
  }

  /** Registers a datanode of class 0 that checks generations. */
  public int datanode(long bytes) throws CrailException {
    return datanode(1, "host", 0, true, bytes);
  }

  long region(int datanode, int index, long bytes) throws CrailException {
    return region(datanode, index, bytes, 0);
  }

  long region(int datanode, int index, long bytes, long generation) throws CrailException {
    return call(
            NameNodeOperations.REGISTER_REGION,
            new RegisterRegion.Request(datanode, index, bytes, 0, 0, generation))
        .blocks();
  }

  /** Lets time pass in small steps, as the timer does. */
  public void pass(long millis) {
    for (long passed = 0; passed < millis; passed += 100) {
      clock.advanceMillis(Math.min(100, millis - passed));
      namenode.tick();
    }
  }

  /** Keeps datanodes alive while time passes, which cut off clients as their answers ask. */
  public void passAlive(long millis, int... datanodes) throws CrailException {
    for (long passed = 0; passed < millis; passed += 100) {
      for (int datanode : datanodes) {
        KeepAlive.Response answer = rule().keepAlive(sign(datanode, Long.MAX_VALUE), caller(""));
        rule().haveCutOff(new KeepAlive.Request(datanode, false, answer.cutOff(), 0, -1, -1));
      }
      pass(Math.min(100, millis - passed));
    }
  }

  /** A sign of life. */
  public static KeepAlive.Request sign(int datanode, long heard) {
    return new KeepAlive.Request(datanode, false, 0, heard, -1, -1);
  }

  /** What decides about datanodes. */
  public DatanodeRule rule() {
    return namenode.rules().datanodes();
  }

  public io.crail.protocol.part.ClassUsage usage(int storageClass) {
    return namenode.datanodes().usage().stream()
        .filter(usage -> usage.storageClass() == storageClass)
        .findFirst()
        .orElseThrow();
  }
}
