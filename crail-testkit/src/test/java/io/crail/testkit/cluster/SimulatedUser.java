/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.client.CoreStore;
import io.crail.client.call.ExtentMove;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.node.BeginMove;
import io.crail.testkit.sim.SimulatedNetwork;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/**
 * A client with random operations, many in progress at once. It reports begins and results to the
 * {@link World}.
 */
final class SimulatedUser {
  private static final int MOST_PENDING = 12;
  private static final int MOST_STREAMS = 5;
  private static final int MOST_HANDLES = 8;
  private static final int MOST_READERS = 3;
  private static final int PAUSE_MILLIS = 60;
  private static final long RPC = ClusterSimulation.RPC_TIMEOUT.toNanos();
  private static final long DATA =
      ClusterSimulation.DATA_TIMEOUT.plus(ClusterSimulation.SPACE_PATIENCE).toNanos();

  /** Errors that mean that an operation has not taken place, and will not. */
  static final Set<ErrorCode> REFUSALS =
      EnumSet.of(
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.NODE_EXISTS,
          ErrorCode.PARENT_NOT_FOUND,
          ErrorCode.NOT_EMPTY,
          ErrorCode.CROSS_NAMENODE,
          ErrorCode.WRONG_TYPE);

  /** A task that waits for an answer, so that no other such task can run meanwhile. */
  record WaitingAction(SimulatedUser user, Action action) {
    void run() {
      if (!user.dead) {
        user.runWaiting(action);
      }
    }
  }

  /** A task. */
  interface Action {
    void run() throws Exception;
  }

  private static final class Open {
    final CrailOutputStream stream;
    final FileModel file;
    final FileModel.Session session;
    boolean broken;

    Open(CrailOutputStream stream, FileModel file, FileModel.Session session) {
      this.stream = stream;
      this.file = file;
      this.session = session;
    }
  }

  /** A stream that stays open while its file grows and moves. */
  private record Reader(CrailFile file, CrailInputStream input) {}

  private final ClusterSimulation simulation;
  private final SimulatedNetwork network;
  private final World world;
  private final Random random;
  private final String host;
  private final CrailStore store;
  private final SimulatedLists lists;
  private final List<Open> open = new ArrayList<>();
  private final List<Open> abandoned = new ArrayList<>();
  private final List<CrailFile> handles = new ArrayList<>();
  private final List<Reader> readers = new ArrayList<>();
  private int pending;
  private boolean waits;
  private boolean rests;
  private boolean dead;
  // This may have ended streams that were opened before, as it should.
  private long containersRemovedNanos;
  private long pausedNanos;
  private long pausedSince = -1;

  SimulatedUser(ClusterSimulation simulation, String host, CrailStore store) {
    this.simulation = simulation;
    this.network = simulation.network();
    this.world = simulation.world();
    this.random = simulation.random();
    this.host = host;
    this.store = store;
    this.lists = new SimulatedLists(this, world, random, store);
  }

  String host() {
    return host;
  }

  CrailStore store() {
    return store;
  }

  boolean isDead() {
    return dead;
  }

  // The life of the client.

  /** How long it was paused so far. */
  long pausedNanos() {
    return pausedNanos + (pausedSince < 0 ? 0 : world.now() - pausedSince);
  }

  void paused() {
    pausedSince = world.now();
  }

  void resumed() {
    pausedNanos = pausedNanos();
    pausedSince = -1;
  }

  void kill(boolean silently) {
    dead = true;
    network.kill(host, silently);
  }

  /** Begins no operation any more. */
  void rest() {
    rests = true;
  }

  /** Begins an operation now and then. */
  void live() {
    network.schedule(
        host,
        Duration.ofMillis(1 + random.nextInt(PAUSE_MILLIS)),
        () -> {
          if (!rests && !dead) {
            if (!waits && pending < MOST_PENDING) {
              guarded(this::act);
            }
            live();
          }
        });
  }

  /** Calls all namenodes, so that lost connections are found. */
  void greetAll() {
    for (String container : world.containers()) {
      network.schedule(host, Duration.ZERO, () -> guarded(() -> lookup(container)));
    }
    // There may be namenodes that no name belongs to, which moves go to.
    network.schedule(host, Duration.ZERO, () -> guarded(this::pingAll));
  }

  private void pingAll() throws CrailException {
    if (!dead) {
      NameNodeClient namenodes = ((CoreStore) store).connections().namenodes();
      for (int i = 0; i < namenodes.count(); i++) {
        namenodes.callAt(i, NameNodeOperations.PING, new Ping.Request(i));
      }
    }
  }

  private void guarded(Action action) {
    try {
      action.run();
    } catch (Exception | AssertionError e) {
      simulation.violated(e);
    }
  }

  private void runWaiting(Action action) {
    waits = true;
    try {
      action.run();
    } catch (Exception | AssertionError e) {
      // The results of a dead client are lost.
      if (!dead) {
        simulation.violated(e);
      }
    } finally {
      waits = false;
    }
  }

  private void waiting(Action action) {
    simulation.wait(new WaitingAction(this, action));
  }

  interface Start<T> {
    Future<T> start() throws Exception;
  }

  /** Begins an operation, and continues when it has ended. */
  <T> void begin(String what, long boundNanos, Start<T> start, Ended<T> then) {
    World.Call call = world.begin(what, this, boundNanos);
    pending++;
    BiConsumer<T, Throwable> ended =
        (result, failure) ->
            guarded(
                () -> {
                  pending--;
                  world.end(call, failure);
                  then.ended(call.begin(), result, failure == null ? null : ErrorCodes.of(failure));
                });
    Upcoming<T> begun;
    try {
      begun = (Upcoming<T>) start.start();
    } catch (Exception e) {
      ended.accept(null, e);
      return;
    }
    begun.toCompletableFuture(Runnable::run).whenComplete(ended);
  }

  interface Ended<T> {
    void ended(long begin, T result, ErrorCode failure) throws Exception;
  }

  private String anyOf(List<String> all) {
    return all.get(random.nextInt(all.size()));
  }

  private String anyFile() {
    return anyOf(world.childrenOf(anyOf(world.directories())));
  }

  private String anyKey() {
    return anyOf(world.childrenOf(anyOf(world.tables())));
  }

  String anyPath() {
    return random.nextBoolean() ? anyFile() : anyKey();
  }

  private void act() throws Exception {
    int which = random.nextInt(120);
    if (which >= 100) {
      lists.act();
    } else if (which < 3) {
      makeContainer(anyOf(world.containers()));
    } else if (which < 15) {
      createFile(anyFile(), random.nextInt(4) == 0);
    } else if (which < 41) {
      write();
    } else if (which < 44) {
      move();
    } else if (which < 50) {
      sync();
    } else if (which < 56) {
      close();
    } else if (which < 57) {
      abandon();
    } else if (which < 61) {
      lookupAndRead(anyPath());
    } else if (which < 63) {
      readGrown();
    } else if (which < 65) {
      readAgain();
    } else if (which < 66) {
      readMulti();
    } else if (which < 73) {
      append();
    } else if (which < 79) {
      put(anyKey());
    } else if (which < 85) {
      get(anyKey());
    } else if (which < 89) {
      delete(anyPath());
    } else if (which < 90) {
      deleteContainer();
    } else if (which < 94) {
      rename();
    } else if (which < 96) {
      streamValue(anyKey());
    } else {
      list(anyOf(world.containers()));
    }
  }

  // Names.

  private void ended(
      PathModel path, PathModel.Change change, long begin, long node, ErrorCode failure) {
    if (failure == null) {
      path.done(change, node, world.now(), world.oldest());
      return;
    }
    if (!REFUSALS.contains(failure)) {
      path.unknown(change);
      return;
    }
    path.not(change);
  }

  void refused(String path, long begin, ErrorCode failure) throws Exception {
    if (failure == ErrorCode.PARENT_NOT_FOUND) {
      String parent = World.parentOf(path);
      world.path(parent).seenNothing(null, begin, world.now());
      if (!rests) {
        makeContainer(parent);
      }
    } else if (failure == ErrorCode.NODE_EXISTS) {
      world.path(path).seenSomething(null, begin, world.now());
    } else if (failure == ErrorCode.NODE_NOT_FOUND) {
      world.path(path).seenNothing(null, begin, world.now());
    }
  }

  private Future<CrailNode> create(String path, CrailNodeType type, boolean replace)
      throws Exception {
    return store.create(
        path,
        type,
        CrailStorageClass.PARENT,
        CrailLocationClass.PARENT,
        true,
        replace,
        type.isContainer() ? 0755 : 0644);
  }

  private void makeContainer(String path) throws Exception {
    PathModel model = world.path(path);
    PathModel.Change change = model.begin(PathModel.Kind.CREATED, null, world.now());
    CrailNodeType type = world.typeOf(path);
    begin(
        "mkdir " + path,
        RPC,
        () -> create(path, type, false),
        (begin, node, failure) -> {
          ended(model, change, begin, 0, failure);
          if (failure != null && REFUSALS.contains(failure)) {
            refused(path, begin, failure);
          }
        });
  }

  private void createFile(String path, boolean replace) throws Exception {
    if (open.size() >= MOST_STREAMS) {
      return;
    }
    PathModel model = world.path(path);
    PathModel.Change change = model.begin(PathModel.Kind.CREATED, null, world.now());
    begin(
        (replace ? "replace " : "create ") + path,
        RPC,
        () -> create(path, CrailNodeType.DATAFILE, replace),
        (begin, node, failure) -> {
          if (failure == null) {
            CrailFile file = node.asFile();
            world.created(file.getFd(), path, begin);
            ended(model, change, begin, file.getFd(), null);
            int next = random.nextInt(8);
            if (next > 1) {
              openLater(file);
            } else if (next == 1) {
              waiting(() -> writeBuffered(file));
            }
          } else {
            ended(model, change, begin, 0, failure);
            if (REFUSALS.contains(failure)) {
              refused(path, begin, failure);
            }
          }
        });
  }

  private void delete(String path) throws Exception {
    PathModel model = world.path(path);
    PathModel.Change change = model.begin(PathModel.Kind.REMOVED, null, world.now());
    begin(
        "delete " + path,
        3 * RPC + DATA,
        () -> store.delete(path, false),
        (begin, node, failure) -> {
          if (failure == null) {
            if (node instanceof CrailFile file) {
              model.seen(file.getFd(), null, change, begin, world.now());
              if (world.file(file.getFd()) != null) {
                world.file(file.getFd()).removed();
              }
            }
            model.done(change, 0, world.now(), world.oldest());
          } else {
            ended(model, change, begin, 0, failure);
            if (failure == ErrorCode.NODE_NOT_FOUND) {
              model.seenNothing(change, begin, world.now());
            }
          }
        });
  }

  private void deleteContainer() throws Exception {
    deleteContainer(anyOf(world.containers()));
  }

  private void deleteContainer(String path) throws Exception {
    Map<PathModel, PathModel.Change> changes = new LinkedHashMap<>();
    List<String> all = new ArrayList<>(world.childrenOf(path));
    all.add(path);
    for (String each : all) {
      PathModel model = world.path(each);
      changes.put(model, model.begin(PathModel.Kind.REMOVED, null, world.now()));
    }
    begin(
        "deleteall " + path,
        3 * RPC + DATA,
        () -> store.delete(path, true),
        (begin, node, failure) -> {
          containersRemovedNanos = world.now();
          changes.forEach((model, change) -> ended(model, change, begin, 0, failure));
          if (failure == ErrorCode.NODE_NOT_FOUND) {
            world.path(path).seenNothing(null, begin, world.now());
          }
        });
  }

  private void rename() throws Exception {
    boolean keys = random.nextBoolean();
    String source = keys ? anyKey() : anyFile();
    String target = keys ? anyKey() : anyFile();
    for (int i = 0; i < 3 && world.namenodeOf(source) != world.namenodeOf(target); i++) {
      // Mostly a target that is allowed.
      target = keys ? anyKey() : anyFile();
    }
    rename(source, target);
  }

  void rename(String source, String target) throws Exception {
    if (source.equals(target)) {
      return;
    }
    boolean replace = random.nextBoolean();
    PathModel from = world.path(source);
    PathModel to = world.path(target);
    PathModel.Change gone = from.begin(PathModel.Kind.REMOVED, null, world.now());
    PathModel.Change come = to.begin(PathModel.Kind.MOVED, null, world.now());
    begin(
        "rename " + source + " to " + target,
        // Before it is refused, both paths are looked up twice.
        5 * RPC,
        () -> store.rename(source, target, replace),
        (begin, node, failure) -> {
          if (failure == null) {
            long id = ((CrailFile) node).getFd();
            from.seen(id, null, gone, begin, world.now());
            from.done(gone, 0, world.now(), world.oldest());
            to.done(come, id, world.now(), world.oldest());
            return;
          }
          ended(from, gone, begin, 0, failure);
          ended(to, come, begin, 0, failure);
          if (failure == ErrorCode.NODE_NOT_FOUND) {
            from.seenNothing(gone, begin, world.now());
          } else if (failure == ErrorCode.NODE_EXISTS) {
            to.seenSomething(come, begin, world.now());
          } else if (failure == ErrorCode.CROSS_NAMENODE
              && world.namenodeOf(source) == world.namenodeOf(target)) {
            throw new AssertionError(source + " and " + target + " are at one namenode");
          }
        });
  }

  private void seen(String path, CrailNode node, long begin) throws Exception {
    PathModel model = world.path(path);
    if (node == null) {
      model.seenNothing(null, begin, world.now());
      return;
    }
    String parent = World.parentOf(path);
    if (!parent.isEmpty()) {
      world.path(parent).seenSomething(null, begin, world.now());
    }
    if (node instanceof CrailFile file) {
      model.seen(file.getFd(), null, null, begin, world.now());
      checkLength(file, begin);
    } else {
      model.seenSomething(null, begin, world.now());
    }
  }

  /** A lookup has ended, which is an access. */
  private void looked(String path, CrailNode node, long begin) throws Exception {
    seen(path, node, begin);
    if (node instanceof CrailFile file) {
      world.lifetimes().accessed(file.getFd(), begin);
    }
  }

  private void lookup(String path) throws Exception {
    begin(
        "lookup " + path,
        RPC,
        () -> store.lookup(path),
        (begin, node, failure) -> {
          if (failure == null) {
            looked(path, node, begin);
          }
        });
  }

  private void list(String path) throws Exception {
    begin(
        "lookup " + path,
        RPC,
        () -> store.lookup(path),
        (begin, node, failure) -> {
          if (failure == null) {
            looked(path, node, begin);
            if (node != null) {
              waiting(() -> list(path, node));
            }
          }
        });
  }

  private void list(String path, CrailNode container) throws Exception {
    World.Call call = world.begin("list " + path, this, 2 * RPC);
    Map<String, CrailNode> found = new HashMap<>();
    try {
      Iterator<CrailNode> children = container.asContainer().listStatus();
      while (children.hasNext()) {
        CrailNode child = children.next();
        if (found.put(child.getPath(), child) != null) {
          throw new AssertionError(child.getPath() + " is listed twice");
        }
      }
    } catch (CrailException | UncheckedIOException e) {
      world.end(call, e);
      return;
    }
    world.end(call, null);
    for (String child : world.childrenOf(path)) {
      seen(child, found.remove(child), call.begin());
    }
    if (!found.isEmpty()) {
      throw new AssertionError("ghosts in " + path + ": " + found.keySet());
    }
  }

  // Bytes of files.

  private void readMulti() throws Exception {
    begin(
        "lookup " + World.MULTIFILE,
        RPC,
        () -> store.lookup(World.MULTIFILE),
        (begin, node, failure) -> {
          if (failure == null) {
            looked(World.MULTIFILE, node, begin);
            if (node != null) {
              waiting(() -> readMulti(node, null));
            }
          }
        });
  }

  /** Reads all files of a container as one. Compares the bytes if they are known. */
  private void readMulti(CrailNode node, byte[] expected) throws Exception {
    World.Call call =
        world.begin("readmulti " + node.getPath(), this, 4 * RPC + 2 * World.CHILDREN * DATA);
    byte[] found;
    try (CrailBufferedInputStream input = node.asMultiFile().getMultiStream(3)) {
      found = input.readAllBytes();
    } catch (IOException e) {
      world.end(call, e);
      return;
    }
    world.end(call, null);
    if (expected != null && !Arrays.equals(expected, found)) {
      throw new AssertionError(
          node.getPath()
              + " gives "
              + found.length
              + " bytes of all its files, which differ from "
              + expected.length
              + " from byte "
              + Arrays.mismatch(expected, found)
              + " on");
    }
  }

  /** Writes to a file through a buffered stream. */
  private void writeBuffered(CrailFile file) throws Exception {
    FileModel model = world.file(file.getFd());
    if (model == null) {
      return;
    }
    World.Call call = world.begin("buffered " + file.getPath(), this, 3 * DATA + 6 * RPC);
    try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
      if (world.now() - call.begin() >= ClusterSimulation.LEASE.toNanos()) {
        return;
      }
      FileModel.Session session =
          model.opened(random.nextLong(), output.position(), call.begin(), world.now());
      for (int i = random.nextInt(4); i >= 0; i--) {
        int length = 1 + random.nextInt(10_000);
        ByteBuffer bytes = ByteBuffer.allocate(length);
        Pattern.fill(bytes, 0, length, session.writer(), session.issued());
        model.issued(session, length);
        output.write(bytes);
      }
      output.close();
      model.acknowledged(session, session.issued(), call.begin(), world.now());
    } catch (IOException e) {
      world.end(call, e);
      return;
    }
    world.end(call, null);
  }

  private void openLater(CrailFile file) {
    waiting(() -> open(file));
  }

  private Open open(CrailFile file) throws Exception {
    FileModel model = world.file(file.getFd());
    if (model == null || open.size() >= MOST_STREAMS) {
      return null;
    }
    World.Call call = world.begin("open " + file.getPath(), this, 4 * RPC);
    CrailOutputStream stream;
    try {
      stream = file.getDirectOutputStream(random.nextInt(3) * 20_000L);
    } catch (CrailException e) {
      world.end(call, e);
      return null;
    }
    world.end(call, null);
    if (world.now() - call.begin() >= ClusterSimulation.LEASE.toNanos()) {
      // Its lease has ended, and another client may have had one meanwhile.
      closeQuietly(stream);
      return null;
    }
    long writer = random.nextLong();
    Open opened =
        new Open(stream, model, model.opened(writer, stream.position(), call.begin(), world.now()));
    open.add(opened);
    return opened;
  }

  private void closeQuietly(CrailOutputStream stream) throws Exception {
    World.Call call = world.begin("drop stream", this, DATA + 3 * RPC);
    try {
      stream.close();
      world.end(call, null);
    } catch (CrailException e) {
      world.end(call, e);
    }
  }

  private Open anyOpen() {
    return open.isEmpty() ? null : open.get(random.nextInt(open.size()));
  }

  private void write() {
    Open chosen = anyOpen();
    if (chosen == null || chosen.broken) {
      return;
    }
    // Mostly few bytes. They need no new space, so the writer learns nothing from the namenode.
    write(chosen, 1 + random.nextInt(random.nextInt(6) == 0 ? 60_000 : 600));
  }

  private void write(Open chosen, int length) {
    CrailBuffer bytes = Pattern.buffer(chosen.session.writer(), chosen.session.issued(), length);
    begin(
        "write " + chosen.stream.getFile().getPath(),
        DATA,
        () -> {
          Future<CrailResult> written = chosen.stream.write(bytes);
          chosen.file.issued(chosen.session, length);
          return written;
        },
        (begin, result, failure) -> {
          if (failure == null) {
            String path = chosen.stream.getFile().getPath();
            world.requireLease(this, path, chosen.session.openedNanos(), begin);
          } else if (!chosen.broken) {
            chosen.broken = true;
            closeLater(chosen);
          }
        });
  }

  private void sync() {
    Open chosen = anyOpen();
    if (chosen == null) {
      return;
    }
    long length = chosen.session.issued();
    begin(
        "sync " + chosen.stream.getFile().getPath(),
        DATA + RPC,
        () -> chosen.stream.sync(),
        (begin, nothing, failure) -> {
          if (failure == null) {
            chosen.file.acknowledged(chosen.session, length, begin, world.now());
          } else if (!chosen.broken) {
            chosen.broken = true;
            closeLater(chosen);
          }
        });
  }

  private void close() {
    Open chosen = anyOpen();
    if (chosen != null) {
      closeLater(chosen);
    }
  }

  private void closeLater(Open chosen) {
    if (open.remove(chosen)) {
      waiting(() -> close(chosen));
    }
  }

  private void close(Open chosen) throws Exception {
    World.Call call =
        world.begin("close " + chosen.stream.getFile().getPath(), this, DATA + 3 * RPC);
    try {
      chosen.stream.close();
    } catch (CrailException e) {
      world.end(call, e);
      return;
    }
    world.end(call, null);
    if (!chosen.broken && chosen.session.openedNanos() > containersRemovedNanos) {
      chosen.file.acknowledged(chosen.session, chosen.session.issued(), call.begin(), world.now());
    }
  }

  /** Abandons a stream without closing it. Its store keeps the lease. */
  private void abandon() {
    Open chosen = anyOpen();
    if (chosen != null && abandoned.size() < 2) {
      open.remove(chosen);
      abandoned.add(chosen);
    }
  }

  /** Tries to take a file over, mostly one that another client is writing. */
  private void append() throws Exception {
    SimulatedUser other = simulation.users().get(random.nextInt(simulation.users().size()));
    Open theirs = other == this ? null : other.anyOpen();
    String path = theirs == null ? anyFile() : theirs.stream.getFile().getPath();
    begin(
        "lookup " + path,
        RPC,
        () -> store.lookup(path),
        (begin, node, failure) -> {
          if (failure == null) {
            looked(path, node, begin);
            if (node instanceof CrailFile file) {
              openLater(file);
            }
          }
        });
  }

  void lookupAndRead(String path) throws Exception {
    begin(
        "lookup " + path,
        RPC,
        () -> store.lookup(path),
        (begin, node, failure) -> {
          if (failure == null) {
            looked(path, node, begin);
            if (node instanceof CrailFile file) {
              read(file);
              keep(file);
            }
          }
        });
  }

  private void keep(CrailFile file) {
    if (handles.size() == MOST_HANDLES) {
      handles.remove(random.nextInt(MOST_HANDLES));
    }
    handles.add(file);
  }

  /** Reads through an old handle. */
  private void readAgain() throws Exception {
    if (!handles.isEmpty()) {
      read(handles.get(random.nextInt(handles.size())));
    }
  }

  /** Reads all there is now through a stream that was opened some time ago. */
  private void readGrown() throws Exception {
    if (readers.size() == MOST_READERS) {
      Reader reader = readers.get(random.nextInt(MOST_READERS));
      waiting(() -> readGrown(reader));
      return;
    }
    String path = anyFile();
    begin(
        "lookup " + path,
        RPC,
        () -> store.lookup(path),
        (begin, node, failure) -> {
          if (failure == null) {
            looked(path, node, begin);
            if (node instanceof CrailFile file && readers.size() < MOST_READERS) {
              Reader reader = new Reader(file, file.getDirectInputStream(0));
              readers.add(reader);
              read(reader, () -> {});
            }
          }
        });
  }

  private void readGrown(Reader reader) throws Exception {
    World.Call call = world.begin("refresh " + reader.file.getPath(), this, RPC);
    try {
      reader.file.refresh();
    } catch (CrailException e) {
      world.end(call, e);
      // Mostly since it is gone.
      readers.remove(reader);
      reader.input.close();
      return;
    }
    world.end(call, null);
    if (!readers.contains(reader)) {
      // Another refresh has failed meanwhile, and closed it.
      return;
    }
    reader.input.seek(0);
    read(reader, () -> {});
  }

  private void read(Reader reader, Action then) throws Exception {
    int length = (int) reader.file.getCapacity();
    if (length == 0) {
      then.run();
      return;
    }
    CrailBuffer target = Pattern.empty(length);
    begin(
        "read " + reader.file.getPath(),
        DATA,
        () -> reader.input.read(target),
        (begin, result, failure) -> {
          then.run();
          if (failure == null) {
            readEnded(reader.file, target.getByteBuffer(), (int) result.getLen());
          }
        });
  }

  /** Moves an extent of any node to another datanode. */
  private void move() throws Exception {
    LoopContext connections = ((CoreStore) store).connections();
    int namenode = random.nextInt(connections.namenodes().count());
    ListExtents.Request all = new ListExtents.Request(ListExtents.ANY_DATANODE, 0, 0, 0);
    World.Call call = world.begin("listextents " + namenode, this, RPC);
    pending++;
    OperationCall<ListExtents.Request, ListExtents.Response> listed =
        connections.namenodes().callAt(namenode, NameNodeOperations.LIST_EXTENTS, all);
    listed.whenComplete(
        () ->
            guarded(
                () -> {
                  pending--;
                  world.end(call, listed.failure());
                  if (!listed.isFailed()) {
                    moveOne(connections, listed.response().extents());
                  }
                }));
  }

  private void moveOne(LoopContext connections, List<ListExtents.Placed> all) {
    if (all.isEmpty()) {
      return;
    }
    ListExtents.Placed placed = all.get(random.nextInt(all.size()));
    ByteBuffer memory = ByteBuffer.allocateDirect(placed.length());
    BeginMove.Request request =
        new BeginMove.Request(
            placed.id(),
            random.nextLong(),
            placed.fileOffset(),
            placed.place(),
            BeginMove.ANY_DATANODE);
    begin(
        World.MOVE + " " + placed.id(),
        4 * RPC + 3 * DATA,
        () -> {
          ExtentMove move = new ExtentMove(connections, request, memory, DATA);
          move.begin();
          return move;
        },
        (begin, bytes, failure) -> {});
  }

  private void checkLength(CrailFile file, long begin) {
    FileModel model = world.file(file.getFd());
    if (model != null && file.getType() == CrailNodeType.DATAFILE) {
      model.checkLength(file.getCapacity(), begin);
    } else if (model == null && file.getType() == CrailNodeType.DATAFILE) {
      // Its creator never got the answer.
      if (file.getCapacity() != 0) {
        throw new AssertionError(file.getPath() + " has bytes, but never had a writer");
      }
    }
  }

  private void read(CrailFile file) throws Exception {
    if (file.getCapacity() > 0) {
      CrailInputStream input = file.getDirectInputStream(file.getCapacity());
      read(new Reader(file, input), input::close);
    }
  }

  private void readEnded(CrailFile file, ByteBuffer found, int length) {
    if (world.isLedger(file.getPath())) {
      world.ledger().check(file.getFd(), found, length);
      return;
    }
    if (file.getType() == CrailNodeType.KEYVALUE) {
      checkValue(file.getPath(), found, length);
      return;
    }
    FileModel model = world.file(file.getFd());
    if (model == null) {
      throw new AssertionError(file.getPath() + " has bytes, but never had a writer");
    }
    model.check(found, length);
  }

  // Values.

  private int valueLength() {
    int kind = random.nextInt(10);
    return Value.LEAST_LENGTH + random.nextInt(kind < 5 ? 900 : kind < 9 ? 6_000 : 100_000);
  }

  private void put(String path) throws Exception {
    Value value = world.newValue(valueLength());
    PathModel model = world.path(path);
    PathModel.Change change = model.begin(PathModel.Kind.PUT, value, world.now());
    begin(
        "put " + path,
        4 * RPC + DATA,
        () -> store.put(path, value.buffer()),
        (long begin, CrailKeyValue node, ErrorCode failure) -> {
          if (failure == null) {
            value.node = node.getFd();
            world.born(value.node, path, begin);
            ended(model, change, begin, value.node, null);
          } else {
            ended(model, change, begin, 0, failure);
            if (REFUSALS.contains(failure)) {
              refused(path, begin, failure);
            }
          }
        });
  }

  /** Creates a value and writes it through a stream. */
  private void streamValue(String path) throws Exception {
    Value value = world.newValue(valueLength());
    value.partial(true);
    PathModel model = world.path(path);
    PathModel.Change change = model.begin(PathModel.Kind.CREATED, value, world.now());
    begin(
        "createvalue " + path,
        RPC,
        () -> create(path, CrailNodeType.KEYVALUE, false),
        (begin, node, failure) -> {
          if (failure == null) {
            CrailFile file = node.asKeyValue();
            value.node = file.getFd();
            world.born(value.node, path, begin);
            ended(model, change, begin, value.node, null);
            waiting(() -> streamValue(file, value));
          } else {
            ended(model, change, begin, 0, failure);
            if (REFUSALS.contains(failure)) {
              refused(path, begin, failure);
            }
          }
        });
  }

  private void streamValue(CrailFile file, Value value) throws Exception {
    World.Call call = world.begin("streamvalue " + file.getPath(), this, 2 * DATA + 6 * RPC);
    try {
      CrailOutputStream stream = file.getDirectOutputStream(value.length());
      try {
        stream.write(value.buffer()).get();
      } finally {
        stream.close();
      }
    } catch (CrailException | ExecutionException e) {
      world.end(call, e);
      return;
    }
    world.end(call, null);
    value.partial(false);
  }

  private void get(String path) throws Exception {
    CrailBuffer target = Pattern.empty(128 << 10);
    begin(
        "get " + path,
        RPC + DATA,
        () -> store.get(path, target),
        (begin, result, failure) -> {
          PathModel model = world.path(path);
          if (failure == null && result == null) {
            model.seenNoValue(begin, world.now());
          } else if (failure == null) {
            Value value = checkValue(path, target.getByteBuffer(), (int) result.getLen());
            if (value == null) {
              model.seenSomething(null, begin, world.now());
            } else {
              model.seen(0, value, null, begin, world.now());
            }
          }
        });
  }

  /** The value of some bytes; null for a value that is still being written. */
  private Value checkValue(String path, ByteBuffer found, int length) {
    if (length < Value.LEAST_LENGTH) {
      return null;
    }
    Value value = world.value(found.getLong(0), path);
    value.check(found, length, path);
    return value;
  }

  // The end.

  /** Closes all open streams. */
  void closeStreams() throws Exception {
    for (Reader reader : readers) {
      reader.input.close();
    }
    readers.clear();
    List<Open> all = new ArrayList<>(open);
    all.addAll(abandoned);
    open.clear();
    abandoned.clear();
    for (Open each : all) {
      close(each);
    }
  }

  /** Checks every name and all bytes. */
  void checkAll() throws Exception {
    for (String container : world.containers()) {
      list(container);
      for (String child : world.childrenOf(container)) {
        lookupAndRead(child);
      }
      awaitAll();
    }
    checkMulti();
  }

  /** Compares the files of a container, one after the other, with the container's stream. */
  private void checkMulti() throws Exception {
    CrailNode node = store.lookup(World.MULTIFILE).get();
    if (node == null) {
      return;
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Iterator<CrailNode> children = node.asContainer().listStatus();
    while (children.hasNext()) {
      CrailFile file = children.next().asFile();
      try (CrailBufferedInputStream input = file.getBufferedInputStream(0)) {
        all.writeBytes(input.readAllBytes());
      } catch (IOException e) {
        if (world.mayBeLost(world.file(file.getFd()))) {
          return;
        }
        throw e;
      }
    }
    readMulti(node, all.toByteArray());
  }

  private void awaitAll() throws Exception {
    while (pending > 0 || waits) {
      simulation.runFor(Duration.ofMillis(5));
    }
    simulation.runFor(Duration.ofMillis(20));
  }

  /** Takes the lease of every file, which must be free, and writes to the file. */
  void appendToAll() throws Exception {
    for (String directory : world.directories()) {
      for (String path : world.childrenOf(directory)) {
        if (store.lookup(path).get() instanceof CrailFile file
            && world.file(file.getFd()) != null) {
          appendTo(file);
        }
      }
    }
  }

  private void appendTo(CrailFile file) throws Exception {
    World.Call call = world.begin("takeover " + file.getPath(), this, 4 * RPC);
    CrailOutputStream stream;
    try {
      stream = file.getDirectOutputStream(0);
    } catch (CrailException e) {
      throw new AssertionError("no client writes to " + file.getPath() + " any more, but " + e, e);
    }
    world.end(call, null);
    FileModel model = world.file(file.getFd());
    Open opened =
        new Open(
            stream,
            model,
            model.opened(random.nextLong(), stream.position(), call.begin(), world.now()));
    write(opened, 1 + random.nextInt(300));
    awaitAll();
    close(opened);
  }

  /** Lets everything end by itself. */
  void expireAll() throws Exception {
    lists.expireAll();
  }

  /** Removes everything. */
  void deleteAll() throws Exception {
    for (String container : world.containers()) {
      deleteContainer(container);
      awaitAll();
    }
  }
}
