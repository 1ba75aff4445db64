/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailNodeType;
import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Lifetime;
import io.crail.protocol.part.NodePath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The common knowledge of the clients of a run: which nodes and bytes may exist, and which
 * operations are in progress.
 */
final class World {
  static final long SLACK_NANOS = 500_000_000L;

  /** The container whose files are read as one. */
  static final String MULTIFILE = "/m";

  /** How the name of a move begins. */
  static final String MOVE = "move";

  private static final int DIRECTORIES = 3;
  private static final int TABLES = 3;
  private static final int LEDGERS = 2;
  static final int CHILDREN = 5;

  /** Errors that any operation may get at any time. */
  private static final Set<ErrorCode> USUAL =
      EnumSet.of(
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.NODE_EXISTS,
          ErrorCode.PARENT_NOT_FOUND,
          ErrorCode.NOT_EMPTY,
          ErrorCode.STALE_NODE,
          ErrorCode.WRITE_LEASE_HELD,
          ErrorCode.WRITE_LEASE_LOST,
          ErrorCode.NO_SPACE,
          ErrorCode.CROSS_NAMENODE,
          ErrorCode.WRONG_TYPE);

  /** What a move may get in addition: its extent has changed, or has its former writer in it. */
  private static final Set<ErrorCode> OF_MOVES =
      EnumSet.of(ErrorCode.STALE_EXTENT, ErrorCode.SPACE_PINNED);

  /** What the nodes of tables get that give them a lifetime. */
  private static final Duration CHILD_LIFETIME = Duration.ofMillis(1200);

  /** Errors that are allowed during a fault. */
  private static final Set<ErrorCode> FAULTS =
      EnumSet.of(
          ErrorCode.UNAVAILABLE,
          ErrorCode.TIMED_OUT,
          ErrorCode.DATA_LOST,
          ErrorCode.UNKNOWN_DATANODE,
          ErrorCode.STALE_EXTENT,
          ErrorCode.CLOSED);

  /** An operation that a client waits for. */
  static final class Call {
    private final String what;
    private final SimulatedUser user;
    private final long begin;
    private final long boundNanos;
    private final long pausedBefore;
    private boolean strict;

    private Call(String what, SimulatedUser user, long begin, long boundNanos, boolean strict) {
      this.what = what;
      this.user = user;
      this.begin = begin;
      this.boundNanos = boundNanos;
      this.pausedBefore = user.pausedNanos();
      this.strict = strict;
    }

    long begin() {
      return begin;
    }

    @Override
    public String toString() {
      return user.host() + ": " + what + " from " + begin / 1_000 + " us on";
    }
  }

  private final ClusterSimulation simulation;
  private final int namenodes;
  private final Map<String, PathModel> paths = new TreeMap<>();
  private final List<String> directories = new ArrayList<>();
  private final List<String> tables = new ArrayList<>();
  private final List<String> ledgers = new ArrayList<>();
  private final Lifetimes lifetimes = new Lifetimes();
  private final Ledger ledger;

  /** By table, when it was known to give each node a lifetime. */
  private final Map<Long, Long> limited = new HashMap<>();

  /** The tables that may give their nodes a lifetime. */
  private final Set<String> limiting = new HashSet<>();

  private final Set<Long> known = new HashSet<>();
  private final Map<Long, FileModel> files = new HashMap<>();
  private final Map<Long, Value> values = new HashMap<>();
  private final Set<Call> pending = new LinkedHashSet<>();
  private final Map<String, Integer> counts = new TreeMap<>();
  private final Outages outages = new Outages(ClusterSimulation.LEASE.toNanos());
  private boolean strict;
  private long lastDatanodeDeath = Long.MIN_VALUE;
  private long lastNamenodeDeath = Long.MIN_VALUE;

  World(ClusterSimulation simulation, int namenodes, boolean keepsBytes) {
    this.simulation = simulation;
    this.namenodes = namenodes;
    this.ledger = new Ledger(keepsBytes);
    for (int i = 0; i < DIRECTORIES; i++) {
      directories.add(add("/d" + i));
    }
    directories.add(add(MULTIFILE));
    for (int i = 0; i < TABLES; i++) {
      tables.add(add("/t" + i));
    }
    for (int i = 0; i < LEDGERS; i++) {
      ledgers.add(add("/l" + i));
    }
  }

  private String add(String container) {
    addPath(container);
    for (int i = 0; i < CHILDREN; i++) {
      addPath(container + "/" + i);
    }
    return container;
  }

  private void addPath(String path) {
    paths.put(path, new PathModel(path, known, lifetimes, namenodeOf(path)));
  }

  /** All containers. */
  List<String> containers() {
    List<String> all = new ArrayList<>(directories);
    all.addAll(tables);
    all.addAll(ledgers);
    return all;
  }

  List<String> directories() {
    return directories;
  }

  List<String> tables() {
    return tables;
  }

  /** The tables whose keys only lists of steps write to. */
  List<String> ledgers() {
    return ledgers;
  }

  boolean isLedger(String path) {
    return path.startsWith("/l");
  }

  /** The histories of the keys of {@link #ledgers}. */
  Ledger ledger() {
    return ledger;
  }

  CrailNodeType typeOf(String container) {
    return container.equals(MULTIFILE)
        ? CrailNodeType.MULTIFILE
        : directories.contains(container) ? CrailNodeType.DIRECTORY : CrailNodeType.TABLE;
  }

  /** The children that a container may have. */
  List<String> childrenOf(String container) {
    List<String> children = new ArrayList<>();
    for (int i = 0; i < CHILDREN; i++) {
      children.add(container + "/" + i);
    }
    return children;
  }

  PathModel path(String path) {
    return paths.get(path);
  }

  static String parentOf(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  int namenodeOf(String path) {
    return NodePath.namenodeOf(Utf8.of(path), namenodes);
  }

  /** The times at which clients could not reach namenodes. */
  Outages outages() {
    return outages;
  }

  /** Fails when a client began a write although its lease had surely ended before. */
  void requireLease(SimulatedUser user, String path, long openedNanos, long beginNanos) {
    String namenode = "namenode" + namenodeOf(path);
    if (outages.hasEnded(user.host(), namenode, openedNanos, beginNanos)) {
      throw new AssertionError(
          user.host() + " has begun to write to " + path + " though it cannot have the lease");
    }
  }

  // Nodes and values.

  void created(long node, String path, long beginNanos) {
    born(node, path, beginNanos);
    files.put(node, new FileModel(node, beginNanos));
  }

  /** The model of a file; null when its creator never got the answer. */
  FileModel file(long node) {
    return files.get(node);
  }

  Value newValue(int length) {
    Value value = new Value(simulation.random().nextLong(), length);
    values.put(value.id(), value);
    return value;
  }

  Value value(long id, String where) {
    Value value = values.get(id);
    if (value == null) {
      throw new AssertionError(where + ": bytes that no client has written");
    }
    return value;
  }

  void known(long node) {
    known.add(node);
  }

  // Lifetimes.

  Lifetimes lifetimes() {
    return lifetimes;
  }

  /** What a table gives its nodes, if it gives them a lifetime. */
  Lifetime childLifetime(String table) {
    return table.endsWith("1") ? Lifetime.sinceAccess(CHILD_LIFETIME) : Lifetime.of(CHILD_LIFETIME);
  }

  /** A client begins to let a table give its nodes a lifetime. */
  void limitChildren(String table) {
    limiting.add(table);
    // Nodes are renamed from table to table.
    for (String each : isLedger(table) ? ledgers : tables) {
      childrenOf(each).forEach(key -> path(key).limitChildren(CHILD_LIFETIME.toNanos()));
    }
  }

  /** A table is known to give its nodes a lifetime. */
  void limitedChildren(long table) {
    limited.putIfAbsent(table, now());
  }

  /** A client has made a node, and knows it. */
  void born(long node, String path, long begin) {
    born(node, path, null, begin);
  }

  /**
   * A client has made a node, and knows it.
   *
   * @param own the lifetime that it has given the node; null for none
   */
  void born(long node, String path, Lifetime own, long begin) {
    known.add(node);
    String parent = parentOf(path);
    if (own != null || !limiting.contains(parent)) {
      lifetimes.born(node, own == null ? Lifetime.UNLIMITED : own, true, begin, now());
      return;
    }
    boolean isSure =
        limited.entrySet().stream()
            .anyMatch(
                each ->
                    each.getValue() < begin && path(parent).surelyHas(each.getKey(), begin, now()));
    lifetimes.born(node, childLifetime(parent), isSure, begin, now());
  }

  /** A namenode begins to stand still, or goes on. */
  void stoodStill(int namenode, boolean begins) {
    if (begins) {
      lifetimes.paused(namenode, now());
    } else {
      lifetimes.resumed(namenode, now());
    }
  }

  // Time.

  long now() {
    return simulation.now();
  }

  Call begin(String what, SimulatedUser user, long boundNanos) {
    Call call = new Call(what, user, now(), boundNanos, strict);
    pending.add(call);
    return call;
  }

  /** Notes the end of a call, with its failure or null. */
  void end(Call call, Throwable failure) {
    checkDeadline(call);
    pending.remove(call);
    String outcome = failure == null ? "ok" : ErrorCodes.of(failure).name();
    counts.merge(call.what.substring(0, call.what.indexOf(' ')) + " " + outcome, 1, Integer::sum);
    simulation.network().note(outcome.hashCode());
    if (failure != null) {
      requireUsual(call, failure);
    }
  }

  /** Counts the end of a list. */
  void count(String what, String outcome) {
    counts.merge(what + " " + outcome, 1, Integer::sum);
  }

  /** How often each operation has ended with each result. */
  Map<String, Integer> counts() {
    return counts;
  }

  private void requireUsual(Call call, Throwable failure) {
    ErrorCode code = ErrorCodes.of(failure);
    boolean excused = !call.strict || call.user.isDead() || lostData(code);
    boolean usual = USUAL.contains(code) || (call.what.startsWith(MOVE) && OF_MOVES.contains(code));
    if (!usual && !(excused && FAULTS.contains(code))) {
      throw new AssertionError(call + " failed: " + failure, failure);
    }
  }

  /** True for the loss of data with their datanode, which no repetition heals. */
  private boolean lostData(ErrorCode code) {
    return (lastDatanodeDeath != Long.MIN_VALUE || lastNamenodeDeath != Long.MIN_VALUE)
        && (code == ErrorCode.DATA_LOST
            || code == ErrorCode.UNAVAILABLE
            || code == ErrorCode.UNKNOWN_DATANODE);
  }

  private void checkDeadline(Call call) {
    if (call.user.isDead()) {
      return;
    }
    long took = now() - call.begin - (call.user.pausedNanos() - call.pausedBefore);
    if (took > call.boundNanos + SLACK_NANOS) {
      throw new AssertionError(
          call + " takes " + took / 1_000_000 + " ms, longer than its deadline");
    }
  }

  void checkDeadlines() {
    pending.removeIf(call -> call.user.isDead());
    pending.forEach(this::checkDeadline);
  }

  /** Lets time pass until every operation has ended, at its deadline at the latest. */
  void awaitAll() throws Exception {
    while (!pending.isEmpty()) {
      checkDeadlines();
      simulation.runFor(Duration.ofMillis(50));
    }
  }

  void requireNothingPending() {
    checkDeadlines();
    if (!pending.isEmpty()) {
      throw new AssertionError("never ended: " + pending);
    }
  }

  /** The begin of the oldest operation in progress. */
  long oldest() {
    long oldest = now();
    for (Call call : pending) {
      oldest = Math.min(oldest, call.begin);
    }
    return oldest;
  }

  /** Sets whether there is no fault. Then no operation may fail because of one. */
  void strict(boolean isStrict) {
    strict = isStrict;
    if (!isStrict) {
      // An operation that began in a calm may end in the next storm.
      pending.forEach(call -> call.strict = false);
    }
  }

  boolean isStrict() {
    return strict;
  }

  /** No message from before some time is in flight any more. */
  void settle() {
    paths.values().forEach(path -> path.settle(now()));
    lifetimes.settle(now());
    ledger.settle(now());
  }

  void namenodeDied(int index, boolean isDurable) {
    lastNamenodeDeath = now();
    lifetimes.resumed(index, now());
    if (isDurable) {
      // As if it stood still until it starts again.
      lifetimes.paused(index, now());
      return;
    }
    for (PathModel path : paths.values()) {
      if (namenodeOf(path.path()) == index) {
        path.lost(now());
      }
    }
  }

  void datanodeDied() {
    lastDatanodeDeath = now();
  }

  /** True when bytes of a file may have been at a datanode that has died. */
  boolean mayBeLost(FileModel file) {
    return lastDatanodeDeath != Long.MIN_VALUE
        && lastDatanodeDeath + ClusterSimulation.LEASE.toNanos() >= file.createdNanos();
  }
}
