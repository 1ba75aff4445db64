/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.Activity;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.Allocation;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.DatanodeRegistry;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SmallBytes;
import io.crail.namenode.space.SmallValues;
import io.crail.namenode.space.SpaceAudit;
import io.crail.namenode.tree.AttributeSetter;
import io.crail.namenode.tree.ExtentFinder;
import io.crail.namenode.tree.NewNode;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeLister;
import io.crail.namenode.tree.NodeMaker;
import io.crail.namenode.tree.NodeMover;
import io.crail.namenode.tree.NodeRemover;
import io.crail.namenode.tree.NodeRenamer;
import io.crail.namenode.tree.NodeReplacer;
import io.crail.namenode.tree.NodeStorage;
import io.crail.namenode.tree.NodeWriter;
import io.crail.namenode.tree.Outfitter;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Locations;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.node.RenewLeases;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.rpc.Frame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * One namenode without network and threads: tree, space and leases together. Time and randomness
 * are passed in. The owner calls {@link #tick} now and then. Thread-safe.
 */
public final class NameNode {
  private static final int DISMANTLED_PER_TICK = 50_000;
  private static final int DISMANTLED_FOR_SPACE = 256;

  private final NameNodeOptions options;
  private final Clock clock;
  private final long startedMillis;
  private final long incarnation;
  private final HeapBudget budget;
  private final HostNames hosts;
  private final Allocator allocator;
  private final DatanodeRegistry datanodes;
  private final Tree tree;
  private final LeaseTable<Node> leases;
  private final SmallValues smallValues;
  private final NodeWriter writer;
  private final UserNames users;
  private final NodeReplacer replacer;
  private final NodeMaker maker;
  private final NodeRemover remover;
  private final NodeRenamer renamer;
  private final NodeMover mover;
  private final AttributeSetter attributes;
  private final NodeLister lister;
  private final Activity activity;

  NameNode(NameNodeOptions options, Clock clock, RandomGenerator random) {
    this.budget = new HeapBudget(options.memory(), NameNodeKeys.MEMORY.name());
    this.hosts = new HostNames(budget);
    this.options = options;
    this.clock = clock;
    this.startedMillis = clock.currentTimeMillis();
    this.incarnation = random.nextLong();
    this.allocator = new Allocator(options, clock, random, new Quarantine(budget));
    this.datanodes = new DatanodeRegistry(options, clock, random, hosts, allocator, budget);
    this.leases =
        new LeaseTable<>(
            clock, options.leaseNanos(), options.maxLeases(), budget, Quarantine.WRITER_FOOTPRINT);
    this.smallValues = new SmallValues(options.smallValue(), options.smallValues(), budget);
    NodeStorage storage = new NodeStorage(allocator, smallValues);
    this.writer = new NodeWriter(allocator, storage, leases, clock);
    this.users = new UserNames(options.user(), budget);
    this.tree = new Tree(options, clock, random, budget, users, writer);
    this.replacer = new NodeReplacer(tree, writer);
    this.maker = new NodeMaker(options, tree, hosts, users, new Outfitter(storage, leases));
    this.remover = new NodeRemover(tree);
    this.renamer = new NodeRenamer(tree, clock);
    this.mover = new NodeMover(tree, allocator);
    this.attributes = new AttributeSetter(tree, users);
    this.lister = new NodeLister(tree);
    this.activity = new Activity(clock.nanoTime());
  }

  NameNodeOptions options() {
    return options;
  }

  Clock clock() {
    return clock;
  }

  /** The account of the heap that all of this takes. */
  public HeapBudget budget() {
    return budget;
  }

  public DatanodeRegistry datanodes() {
    return datanodes;
  }

  public Allocator allocator() {
    return allocator;
  }

  public Tree tree() {
    return tree;
  }

  Activity activity() {
    return activity;
  }

  UserNames users() {
    return users;
  }

  NodeMover mover() {
    return mover;
  }

  public LeaseTable<Node> leases() {
    return leases;
  }

  public SmallValues smallValues() {
    return smallValues;
  }

  /** Opens a connection: agrees on a version, and describes the cluster. */
  Hello.Response hello(Hello.Request request) throws CrailException {
    if (request.magic() != Hello.MAGIC) {
      throw ErrorCode.PROTOCOL.exception("this is a namenode of Crail; bad magic number");
    }
    if (request.minVersion() > Frame.VERSION || request.maxVersion() < Frame.VERSION) {
      throw ErrorCode.UNSUPPORTED.exception(
          "protocol version "
              + Frame.VERSION
              + "; the client speaks "
              + request.minVersion()
              + " to "
              + request.maxVersion());
    }
    if (request.role() != Hello.ROLE_CLIENT && request.role() != Hello.ROLE_DATANODE) {
      throw ErrorCode.INVALID_ARGUMENT.exception("role " + request.role());
    }
    return new Hello.Response(
        Frame.VERSION,
        options.index(),
        options.count(),
        options.blockSize(),
        Extent.MIN_LENGTH,
        smallValues.maxLength(),
        (int) (options.leaseNanos() / 1_000_000),
        incarnation,
        tree.rootId(),
        Utf8.of(options.cluster()));
  }

  /** Makes a node that belongs to {@code user}. */
  Node make(NewNode request, long clientId, SessionUser user) throws CrailException {
    return maker.make(request, clientId, user);
  }

  NodeInfo remove(Remove.Request request) throws CrailException {
    return remover.remove(request.path(), request.recursive(), request.id());
  }

  NodeInfo rename(Rename.Request request) throws CrailException {
    return renamer.rename(request.source(), request.target(), request.replace());
  }

  NodeInfo setAttributes(SetAttributes.Request request, SessionUser user) throws CrailException {
    return attributes.setAttributes(request, user);
  }

  ListNodes.Response list(ListNodes.Request request) throws CrailException {
    return lister.list(request);
  }

  NodeInfo setSize(SetSize.Request request, ClientActivity client) throws CrailException {
    Node found = tree.find(request.id());
    if (found == null || tree.isDetached(found)) {
      writer.farewell(found, request);
    }
    return replacer.setSize(tree.require(request.id()), request, client::committed).info();
  }

  Extend.Response extend(Extend.Request request) throws CrailException {
    return new Extend.Response(writer.extend(tree.require(request.id()), request));
  }

  Extend.Response replace(ReplaceExtent.Request request) throws CrailException {
    return new Extend.Response(writer.replace(tree.require(request.id()), request));
  }

  AcquireLease.Response acquire(AcquireLease.Request request, long clientId) throws CrailException {
    return writer.acquire(tree.require(request.id()), clientId, request.token());
  }

  /** Renews the write leases of a client, and returns those that the client has lost. */
  RenewLeases.Response renew(RenewLeases.Request request) {
    // In this order: when a node is taken from its writer after the check of its lease, the space
    // then rests for as long as this renewal lasts.
    leases.renew(request.clientId());
    List<RenewLeases.Lost> lost = new ArrayList<>();
    for (int i = 0; i < request.leases().size(); i++) {
      RenewLeases.Lease lease = request.leases().get(i);
      Node node = tree.find(lease.id());
      ErrorCode code =
          node == null || tree.isDetached(node)
              ? ErrorCode.STALE_NODE
              : writer.check(node, request.clientId(), lease.token());
      if (code != ErrorCode.OK) {
        lost.add(new RenewLeases.Lost(i, code.number()));
      }
    }
    return new RenewLeases.Response(lost);
  }

  /** The committed extents of a range. A small value has none. */
  Locations.Response locations(Locations.Request request) throws CrailException {
    Node node = tree.require(request.id());
    if (request.position() < 0 || request.length() < 0) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          node + ": " + request.length() + " bytes from " + request.position());
    }
    NodeSpace space = node.space();
    long size = space == null ? 0 : space.size();
    long end = Math.min(size, request.position() + Math.min(request.length(), size));
    if (space == null || space.small() != null || request.position() >= end) {
      return new Locations.Response(size, List.of());
    }
    int from = space.indexOf(request.position());
    int to = Math.min(ExtentFinder.end(space, end), from + Locations.MAX_EXTENTS);
    List<Extent> extents = new ArrayList<>(to - from);
    for (int i = from; i < to; i++) {
      extents.add(space.at(i).extentBefore(size));
    }
    return new Locations.Response(size, extents);
  }

  /**
   * The answer about usage.
   *
   * @param requests requests answered so far
   * @param requestNanos the time of work on them
   * @param waitedNanos how long connections have waited for their turn
   */
  Usage.Response usage(long requests, long requestNanos, long waitedNanos) {
    List<DatanodeSpace> known = datanodes.datanodes();
    int online = (int) known.stream().filter(datanodes::isOnline).count();
    return new Usage.Response(
        tree.size(),
        known.size(),
        online,
        leases.size(),
        startedMillis,
        requests,
        requestNanos,
        waitedNanos,
        smallValues.used(),
        budget.used(),
        budget.capacity(),
        activity.locatedBytes(),
        activity.committedBytes(),
        datanodes.isSuccessor(),
        datanodes.usage());
  }

  /** Does the periodic work: ends leases, frees space, takes removed subtrees apart. */
  public void tick() {
    leases.tick(writer::expire);
    remover.dismantle(DISMANTLED_PER_TICK);
    allocator.moves().tick();
    allocator.reclaim();
    datanodes.tick();
    activity.tick(clock.nanoTime());
  }

  /**
   * Frees some of the space and memory that can be freed at once, in well below a millisecond.
   * Returns false when there was nothing to do. The caller must hold no monitor, since this takes
   * the monitors of many nodes.
   */
  boolean makeSpace() {
    return allocator.reclaim() + remover.dismantle(DISMANTLED_FOR_SPACE) > 0;
  }

  /**
   * Counts all nodes and all space again, compares, and looks for space that has two owners; for
   * tests, while nothing changes.
   */
  public void verify() {
    Map<DatanodeSpace, Long> used = new HashMap<>();
    SpaceAudit audit = new SpaceAudit(options.blockSize());
    long[] small = new long[1];
    long[] heap = new long[1];
    long[] names = new long[1];
    tree.walk(
        0,
        Long.MAX_VALUE,
        node -> {
          heap[0] += tree.footprint(node);
          names[0] += tree.namesOf(node);
          NodeSpace space = node.space();
          if (space != null && space.small() != null) {
            small[0] += SmallBytes.footprint(space.small().length);
          }
          for (int i = 0; space != null && i < space.count(); i++) {
            Allocation extent = space.at(i);
            used.merge(extent.region().datanode(), (long) extent.allocatedLength(), Long::sum);
            audit.owned(extent, node);
          }
          heap[0] += space == null ? 0 : space.count() * Allocation.FOOTPRINT;
          return true;
        });
    datanodes.verify(used, audit);
    if (small[0] != smallValues.used()) {
      throw new AssertionError(
          "small values of " + small[0] + " bytes, counted as " + smallValues.used());
    }
    tree.verify();
    long counted =
        heap[0]
            + small[0]
            + tree.tableBytes()
            + leases.footprint()
            + users.footprint()
            + hosts.footprint()
            + datanodes.footprint();
    if (names[0] != users.held()) {
      throw new AssertionError(
          names[0] + " owners and groups of nodes, counted as " + users.held());
    }
    if (counted != budget.used()) {
      throw new AssertionError(counted + " bytes of heap, counted as " + budget.used());
    }
  }
}
