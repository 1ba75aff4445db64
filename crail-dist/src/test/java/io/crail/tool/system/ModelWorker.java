/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailContainer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.codec.SmallValue;
import io.crail.testkit.model.Board;
import io.crail.testkit.model.Board.Counter;
import io.crail.testkit.model.Content;
import io.crail.testkit.model.DrawnList;
import io.crail.testkit.model.Life;
import io.crail.testkit.model.Life.Phase;
import io.crail.testkit.model.Marks;
import io.crail.testkit.model.ModelNames;
import io.crail.testkit.model.ModelNames.Container;
import io.crail.testkit.model.NameState;
import io.crail.testkit.model.Units;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/**
 * One thread of a client. It does random operations on its own names, also reads those of other
 * threads, and compares all results with the board.
 */
final class ModelWorker implements Runnable {
  /** No operation takes longer, with all deadlines, and whatever is stopped meanwhile. */
  private static final long LONGEST_SECONDS = 150;

  /** Quiet times after which nothing of an operation can be under way any more. */
  private static final long SETTLING = 5;

  /** How long all must have become known, and be readable, at the end. */
  private static final long FINISH_NANOS = TimeUnit.SECONDS.toNanos(90);

  /** What a worker did last, and reports when something is wrong. */
  private static final int TRACE = 200;

  private static final int LONGEST_LINGER_MILLIS = 60;

  private static final long DOUBT_MILLIS = 5;

  /** One of this many steps with a shared container removes it, if it is one's own. */
  private static final int KEEPS = 8;

  /** One of this many steps with a shared container uses names of which nothing is known. */
  private static final int WILD = 8;

  private static final int WILD_NAMES = 4;

  /** One draw in this many fills a directory up to its limit. */
  private static final int LIMITS = 16;

  private static final int MOST_NAMES = 6;

  /** The longest value that the namenode keeps; others go to datanodes. */
  private static final int SMALL_VALUE = SmallValue.MAX_LENGTH;

  private static final int MOST_SMALL = 20_000;
  private static final int MOST_LARGE = 2 << 20;
  private static final int LARGEST_VALUE = 600_000;
  private static final int PIECE = 256 << 10;

  /** Of the writes in whose middle a client is stopped or killed. */
  private static final int LARGE_WRITE = 1 << 20;

  private static final int MOST_LARGE_WRITES = 8;

  /** Longer than a client that continues needs for the rest of a write. */
  private static final long CONTINUES_MILLIS = 500;

  /** Longer than requests that were held back are under way. */
  private static final long LATE_MILLIS = 300;

  private static final long POLL_MILLIS = 100;

  /** Longer than a namenode needs to remove what has ended. */
  private static final long END_MILLIS = 2000;

  /** Answers, one each {@link #POLL_MILLIS}, by which a dead client has no lease: 3 leases. */
  private static final int MOST_HELD = 60;

  /** Handles that a thread keeps, to read through them when their files may be gone. */
  private static final int MOST_HANDLES = 8;

  private static final int MOST_LOOKS = 10;

  /** Of 100 steps with a file; those before are for its directory. */
  private static final int APPENDS = 24;

  /** Reads all of a key. */
  private static final CompoundOperation READ =
      CompoundOperation.builder().readAttributes().read(0, SMALL_VALUE).build();

  /** Errors that no state and no fault of these tests excuses. */
  private static final Set<ErrorCode> BUGS =
      EnumSet.of(
          ErrorCode.INTERNAL,
          ErrorCode.PROTOCOL,
          ErrorCode.INVALID_ARGUMENT,
          ErrorCode.INVALID_PATH,
          ErrorCode.NOT_A_CONTAINER,
          ErrorCode.WRONG_TYPE,
          ErrorCode.WRONG_NAMENODE,
          ErrorCode.SPREAD,
          ErrorCode.NO_SHARE,
          ErrorCode.BEING_REMOVED,
          ErrorCode.CROSS_NAMENODE,
          ErrorCode.CYCLE,
          ErrorCode.ROOT,
          ErrorCode.UNSUPPORTED);

  /** An error of the store. */
  static final class Mismatch extends Exception {
    private static final long serialVersionUID = 1L;

    Mismatch(String message) {
      super(message);
    }
  }

  /** The identity of this thread among all threads of a run. */
  record Place(int client, int thread, int incarnation, boolean fills) {
    /** No other thread of a run has it, whatever was killed and started again. */
    int writer() {
      return (client * 64 + thread) * 1000 + incarnation;
    }
  }

  /** A file as it was looked up at some time: its path then, its id and its length. */
  private record Handle(CrailFile file, String path, long id, int length) {}

  /**
   * What was found under a name.
   *
   * @param marks what lists of steps have given it; null when that was not read
   */
  private record Found(ByteBuffer bytes, Marks marks) {}

  private final CrailStore store;
  private final Board board;
  private final ModelNames names;
  private final Place place;
  private final Random random;
  private final Map<String, Integer> counts = new TreeMap<>();
  private final Queue<String> trace = new ArrayDeque<>();
  private final List<Handle> handles = new ArrayList<>();
  private long counter;

  ModelWorker(CrailStore store, Board board, ModelNames names, Place place, long seed) {
    this.store = store;
    this.board = board;
    this.names = names;
    this.place = place;
    this.random = new Random(seed ^ (long) place.writer() * 0x9e37_79b9_7f4a_7c15L);
  }

  @Override
  public void run() {
    try {
      recover();
      while (board.get(Counter.FINISH) == 0) {
        step();
      }
      finish();
    } catch (Mismatch e) {
      System.out.println("MISMATCH client " + place.client + ": " + e.getMessage());
      trace.forEach(line -> System.out.println("trace " + place.writer() + " " + line));
    } catch (Exception | Error e) {
      System.out.println("MISMATCH client " + place.client + ": a worker ended with " + e);
      e.printStackTrace();
    }
    System.out.println("counts " + counts);
  }

  private void count(String what) {
    counts.merge(what, 1, Integer::sum);
  }

  /** Counts what was done to a name, and keeps it in mind for a while. */
  private void count(int name, String what) {
    count(what);
    trace(names.path(name) + " " + what);
  }

  private void trace(String what) {
    if (trace.size() == TRACE) {
      trace.remove();
    }
    trace.add(System.currentTimeMillis() % 1_000_000 + " ms: " + what);
  }

  private long nextId() {
    return Units.id(place.writer(), ++counter);
  }

  private long quiet() {
    return board.get(Counter.QUIET);
  }

  /** How often the namenodes had lost everything that a name needs. */
  private long namenodeLoss(int name) {
    long own = board.get(Counter.NAMENODE_LOSS, names.namenodeOf(name));
    // A spread directory ends with its owner.
    return names.isSpread(name) && !names.isContainer(name)
        ? own + namenodeLoss(names.container(name))
        : own;
  }

  private boolean isLost(int name) {
    return state(name).namenodeLoss() != namenodeLoss(name);
  }

  /** The names of this thread that a name is one of, and their container if it owns that. */
  private List<Integer> beside(int name) {
    int first = names.first(name);
    return IntStream.range(first, first + ModelNames.PER_CONTAINER)
        .filter(each -> !names.isWild(each))
        .boxed()
        .toList();
  }

  private long datanodeLoss() {
    return board.get(Counter.DATANODE_LOSS);
  }

  private NameState state(int name) {
    return board.read(name);
  }

  // ---- what went wrong ----

  /**
   * The code of a failure that the store may have.
   *
   * @param expected codes that are allowed here
   * @throws Mismatch when it may not
   */
  private ErrorCode codeOf(String what, Throwable failure, ErrorCode... expected) throws Mismatch {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CrailException crail) {
        if (BUGS.contains(crail.code()) && !List.of(expected).contains(crail.code())) {
          throw new Mismatch(what + " failed: " + crail.code() + " " + crail.detail());
        }
        count(crail.code().toString());
        trace(what + " failed: " + crail.code() + " " + crail.detail());
        return crail.code();
      }
    }
    if (failure instanceof TimeoutException) {
      throw new Mismatch(what + " did not end within " + LONGEST_SECONDS + " s");
    }
    failure.printStackTrace();
    throw new Mismatch(what + " failed without a type: " + failure);
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(LONGEST_SECONDS, TimeUnit.SECONDS);
  }

  /** What a name may be after its namenode has lost all, or the last changes. */
  private NameState afterLoss(int name) {
    NameState state = state(name);
    long losses = namenodeLoss(name);
    if (board.window() == 0) {
      return state.lost(quiet(), losses);
    }
    long killed = board.killMillis(names.namenodeOf(name));
    if (names.isSpread(name)) {
      killed = Math.max(killed, board.killMillis(names.namenodeOf(names.container(name))));
    }
    // What is known of the last kill only is not known of those before.
    boolean isOld =
        losses == state.namenodeLoss() + 1 && state.changedMillis() < killed - board.window();
    count(isOld ? "changes kept" : "changes perhaps lost");
    return isOld ? state.kept(losses) : state.rolledBack(quiet(), losses);
  }

  /** A namenode that was started anew knows nothing: whatever it knew may be gone. */
  private boolean noticeLoss(int name) {
    boolean noticed = false;
    List<Integer> all = beside(name);
    // The container comes last.
    for (int i = all.size() - 1; i >= 0; i--) {
      int each = all.get(i);
      if (isLost(each)) {
        board.write(each, afterLoss(each));
        noticed = true;
      }
    }
    if (noticed) {
      count("losses");
    }
    return noticed;
  }

  /** The lifetime of a node may be over. */
  private boolean noticeEnd(int name) {
    NameState state = state(name);
    if (!state.mayHaveEnded(System.currentTimeMillis())) {
      return false;
    }
    board.write(name, state.lost(quiet(), state.namenodeLoss()));
    count(name, "lifetimes over");
    return true;
  }

  /**
   * Something is wrong, unless the namenode has lost everything, or the container or the lifetime
   * has ended.
   */
  private void wrong(int name, String what) throws Exception {
    wrong(name, what, true);
  }

  private void wrong(int name, String what, boolean mayHaveEnded) throws Exception {
    if (!noticeLoss(name) && !hasEnded(name) && !(mayHaveEnded && noticeEnd(name))) {
      throw new Mismatch(names.path(name) + ": " + what);
    }
  }

  // ---- looking ----

  /** What was found: null for nothing. */
  private Found look(int name) throws Exception {
    return look(name, false);
  }

  private Found look(int name, boolean lingers) throws Exception {
    String path = names.path(name);
    if (names.kindOf(name).isTable() && !names.isContainer(name)) {
      int way = random.nextInt(3);
      Found found = way == 0 ? lookByGet(path) : way == 1 ? lookByList(path) : null;
      if (found != null) {
        return found;
      }
      // Nothing, or a key whose put was given up before its bytes.
    }
    ByteBuffer bytes = names.isContainer(name) ? lookAtContainer(path) : lookAtFile(path, lingers);
    return bytes == null ? null : new Found(bytes, null);
  }

  private Found lookByGet(String path) throws Exception {
    ByteBuffer target = ByteBuffer.allocateDirect(LARGEST_VALUE);
    CrailResult result = get(store.get(path, OffHeapBuffer.wrap(target)));
    return result == null ? null : new Found(target.slice(0, (int) result.getLen()), null);
  }

  /** As a list of steps sees it; null for nothing, and for bytes that the namenode has not. */
  private Found lookByList(String path) throws Exception {
    CompoundResult result = get(store.operate(path, READ));
    if (!result.isSuccess()) {
      ErrorCode code = result.code(result.failedStep());
      if (code != ErrorCode.NODE_NOT_FOUND && code != ErrorCode.NOT_KEPT) {
        throw new Mismatch(path + ": a list that only reads failed: " + code);
      }
      return null;
    }
    Marks marks = Marks.NEW.withEpoch(result.epoch());
    for (Map.Entry<String, byte[]> each : result.attributes(0).entrySet()) {
      String number = new String(each.getValue(), StandardCharsets.US_ASCII);
      marks = marks.with(each.getKey(), Long.parseLong(number));
    }
    marks = marks.withVersion(result.version());
    return new Found(ByteBuffer.wrap(result.bytes(1)), marks);
  }

  private ByteBuffer lookAtContainer(String path) throws Exception {
    return get(store.lookup(path)) == null ? null : ByteBuffer.allocate(0);
  }

  private ByteBuffer lookAtFile(String path, boolean lingers) throws Exception {
    CrailNode node = get(store.lookup(path));
    if (node == null) {
      return null;
    }
    CrailFile file = (CrailFile) node;
    int length = (int) file.getCapacity();
    if (lingers) {
      // What it knows of the place of the bytes may be of yesterday then.
      TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LINGER_MILLIS));
    }
    return length == 0 ? ByteBuffer.allocate(0) : read(file, 0, length);
  }

  private ByteBuffer read(CrailFile file, long offset, int length) throws Exception {
    ByteBuffer target = ByteBuffer.allocateDirect(length);
    if (random.nextBoolean()) {
      try (CrailBufferedInputStream in = file.getBufferedInputStream(length)) {
        in.seek(offset);
        int count = 0;
        while (count >= 0 && target.hasRemaining()) {
          count = in.read(target);
        }
      }
      return target.flip();
    }
    CrailInputStream in = file.getDirectInputStream(length);
    try {
      in.seek(offset);
      OffHeapBuffer buffer = OffHeapBuffer.wrap(target);
      long count = 1;
      while (count > 0 && buffer.hasRemaining()) {
        count = get(in.read(buffer)).getLen();
      }
      return target.limit(buffer.position()).position(0);
    } finally {
      in.close();
    }
  }

  /** Looks at a name of this thread and narrows down what may be there. */
  private boolean observe(int name) throws Exception {
    return observe(name, false);
  }

  /**
   * Looks at a name of this thread.
   *
   * @param fenced whether nothing that was asked for before can change it any more
   */
  private boolean observe(int name, boolean fenced) throws Exception {
    long quietBefore = quiet();
    long begin = System.currentTimeMillis();
    Found found;
    try {
      found = look(name);
    } catch (Mismatch e) {
      throw e;
    } catch (Exception e) {
      codeOf("look at " + names.path(name), e);
      return false;
    }
    NameState state = state(name);
    int index = indexOf(state, found);
    if (names.isContainer(name) && found != null) {
      index = state.findLength(0);
    }
    if (index == NameState.NONE) {
      // What is over is gone, and not something else.
      wrong(name, explain(state, found), found == null);
      return false;
    }
    boolean isLate = found != null && state.possible().get(index).marks().mustHaveEnded(begin);
    if (isLate && stays(name, board.version(name))) {
      throw new Mismatch(names.path(name) + " is there after its end: " + state.possible());
    }
    count(name, "observed");
    // Of two contents that differ in their marks only, a look may not tell which one it is.
    boolean isOne =
        found == null
            || found.marks != null
            || names.isContainer(name)
            || state.hasOneOf(found.bytes);
    if (isOne && state.isDoubtful() && (fenced || quietBefore >= state.doubtSince() + SETTLING)) {
      settle(name, state, index, found);
    } else {
      board.write(name, state.found(index));
    }
    return true;
  }

  /**
   * Whether a node is there in each of some looks. A namenode that was stopped may answer a request
   * before it removes what has ended meanwhile.
   */
  private boolean stays(int name, long version) throws Exception {
    boolean stays = true;
    for (int i = 0; i < MOST_LOOKS && stays; i++) {
      TimeUnit.MILLISECONDS.sleep(END_MILLIS / MOST_LOOKS);
      try {
        stays = look(name) != null && board.version(name) == version;
      } catch (Mismatch e) {
        throw e;
      } catch (Exception e) {
        codeOf("look at the end of " + names.path(name), e);
        stays = false;
      }
    }
    return stays;
  }

  private static int indexOf(NameState state, Found found) {
    return found == null ? state.findAbsent() : state.find(found.bytes, found.marks);
  }

  private static String explain(NameState state, Found found) {
    return found == null
        ? "is gone; expected " + state.possible()
        : state.explain(found.bytes, found.marks);
  }

  private void settle(int name, NameState state, int index, Found found) throws Exception {
    Content content = state.possible().get(index);
    Marks marks = content.marks();
    if (marks.endMillis() != 0 && marks.latestMillis() == 0) {
      // The list that has set it cannot come any more.
      long latest = System.currentTimeMillis() + Marks.LONGEST_LIFE_MILLIS;
      content = content.with(marks.withEnd(marks.endMillis(), latest));
    }
    board.write(
        name, state.settled(found == null ? Content.ABSENT : content.cut(found.bytes.limit())));
    count(name, "settled");
    int partner = state.partner();
    if (partner >= 0 && content.isPresent() && state(partner).isKnown()) {
      Content other = state(partner).last();
      if (other.file() == content.file()) {
        throw new Mismatch(
            names.path(name) + " and " + names.path(partner) + " are both " + content);
      }
    }
  }

  /** Looks at a name of anybody. */
  private void observeForeign(int name) throws Exception {
    long version = board.version(name);
    NameState state = state(name);
    long begin = System.currentTimeMillis();
    Found found;
    try {
      found = look(name, random.nextInt(3) == 0);
    } catch (Mismatch e) {
      throw e;
    } catch (Exception e) {
      codeOf("look at " + names.path(name), e);
      return;
    }
    if (names.isContainer(name) || names.isWild(name)) {
      return;
    }
    boolean lost =
        namenodeLoss(name) != state.namenodeLoss()
            || hasEnded(name, state)
            || found == null && state.mayHaveEnded(System.currentTimeMillis());
    if (board.version(name) == version && !lost) {
      int index = indexOf(state, found);
      if (index == NameState.NONE) {
        throw new Mismatch(names.path(name) + " of another thread: " + explain(state, found));
      }
      boolean isLate = found != null && state.possible().get(index).marks().mustHaveEnded(begin);
      if (isLate && stays(name, version)) {
        throw new Mismatch(names.path(name) + " is there after its end: " + state.possible());
      }
      count("observed others'");
    } else if (found != null) {
      String wrong = strange(found.bytes);
      if (wrong != null) {
        throw new Mismatch(names.path(name) + " while it changed: " + wrong);
      }
      count("observed changing");
    }
  }

  /** What is wrong with a file of which nothing is known. */
  private static String strange(ByteBuffer bytes) {
    return strange(bytes, 0);
  }

  /**
   * What is wrong with the bytes of a file.
   *
   * @param id the file's id; 0 when only one file must be found
   */
  private static String strange(ByteBuffer bytes, long id) {
    long file = id;
    int broken = 0;
    for (int at = 0; at + Units.LENGTH <= bytes.limit(); at += Units.LENGTH) {
      Units.Unit unit = Units.at(bytes, at);
      // One or two of them may consist of the bytes of two operations.
      broken = unit == null ? broken + 1 : 0;
      if (broken > Content.MAX_PARTS) {
        return "byte " + at + " of " + bytes.limit() + ": " + Units.describe(bytes, at);
      }
      if (unit != null) {
        file = file == 0 ? unit.file() : file;
        if (unit.file() != file || unit.offset() != at) {
          return "byte " + at + " of file " + Units.text(file) + " is of " + unit;
        }
      }
    }
    return null;
  }

  /** Looks a file of anybody up, or reads through a handle that was looked up before. */
  private void useHandle(int name) throws Exception {
    if (handles.size() == MOST_HANDLES || (!handles.isEmpty() && random.nextBoolean())) {
      readHandle(handles.remove(random.nextInt(handles.size())));
      return;
    }
    if (names.isContainer(name) || names.kindOf(name).isTable()) {
      return;
    }
    try {
      CrailNode node = get(store.lookup(names.path(name)));
      int length = node == null ? 0 : (int) node.asFile().getCapacity();
      if (length < Units.LENGTH) {
        return;
      }
      Units.Unit first = Units.at(read(node.asFile(), 0, Units.LENGTH), 0);
      if (first != null) {
        handles.add(new Handle(node.asFile(), names.path(name), first.file(), length));
      }
    } catch (Exception e) {
      codeOf("keep a handle of " + names.path(name), e);
    }
  }

  /** What is read through an old handle belongs to the file that was looked up, or is refused. */
  private void readHandle(Handle handle) throws Exception {
    ByteBuffer found;
    try {
      found = read(handle.file, 0, handle.length);
    } catch (Exception e) {
      codeOf("read through a handle of " + handle.path, e);
      return;
    }
    String wrong = strange(found, handle.id);
    if (wrong != null) {
      throw new Mismatch(handle.path + " through an old handle: " + wrong);
    }
    count("read handles");
  }

  /** Reads a part of a file whose content is known. */
  private void readPart(int name) throws Exception {
    NameState state = state(name);
    Content content = state.last();
    if (content.length() == 0) {
      return;
    }
    long offset = random.nextLong(content.length());
    int length = 1 + random.nextInt((int) (content.length() - offset));
    try {
      CrailNode node = get(store.lookup(names.path(name)));
      if (node == null) {
        wrong(name, "is gone; expected " + content);
        return;
      }
      ByteBuffer found = read((CrailFile) node, offset, length);
      String mismatch = content.mismatch(found, offset);
      if (mismatch != null || found.limit() != length) {
        wrong(
            name,
            "read " + found.limit() + " of " + length + " bytes at " + offset + ": " + mismatch);
      }
      count("read parts");
    } catch (Mismatch e) {
      throw e;
    } catch (Exception e) {
      codeOf("read a part of " + names.path(name), e);
    }
  }

  // ---- one step ----

  private void step() throws Exception {
    // One thread goes on as usual, so that other files are hit too.
    if (place.thread > 0 && board.isWanted(place.client)) {
      writeMuch();
      return;
    }
    for (int i = 0; i < names.clients() && place.thread > 0; i++) {
      if (i != place.client && board.stands(i)) {
        takeSpaceOf(i);
        return;
      }
    }
    switch (random.nextInt(8)) {
      case 0, 1 -> observeForeign(random.nextInt(names.count()));
      case 2 -> useHandle(random.nextInt(names.count()));
      case 3 -> {
        if (random.nextInt(LIMITS) == 0) {
          reachLimit();
        } else {
          act();
        }
      }
      default -> act();
    }
  }

  private void act() throws Exception {
    // What is held back should be sizes of files.
    boolean appends = board.get(Counter.HOLDS) > 0 && random.nextInt(4) > 0;
    Container kind = appends ? Container.DIRECTORY : drawKind();
    int top = names.first(place.client, place.thread, kind);
    if (kind.isShared()) {
      actShared(top, kind);
      return;
    }
    int name = top + 1 + random.nextInt(ModelNames.PER_CONTAINER - 1);
    int roll = appends ? APPENDS : random.nextInt(100);
    noticeLoss(top);
    if (!state(top).isKnown()) {
      observeDoubtful(top);
    } else if (!state(top).last().isPresent()) {
      createContainer(top, kind);
    } else if (roll < 2 && names.isSpread(top)) {
      removeContainer(top);
    } else if (roll < 6) {
      list(top);
    } else if (!state(name).isKnown()) {
      observeDoubtful(name);
    } else {
      switch (kind) {
        case DIRECTORY -> stepFile(name, roll);
        case TABLE -> stepValue(name, roll);
        default -> stepMultiFile(top, name, roll);
      }
    }
  }

  private Container drawKind() {
    List<Container> kinds = names.kinds();
    Container drawn = kinds.get(random.nextInt(kinds.size()));
    for (Container kind : kinds) {
      // While a container is made or removed, others should be at it.
      Phase phase = kind.isShared() ? board.life(kind).phase() : Phase.GONE;
      boolean changes = phase == Phase.BEING_MADE || phase == Phase.BEING_REMOVED;
      drawn = changes && random.nextInt(3) > 0 ? kind : drawn;
    }
    return drawn;
  }

  /** Nothing else can be done with it for a while, so it is not asked for all the time. */
  private void observeDoubtful(int name) throws Exception {
    TimeUnit.MILLISECONDS.sleep(DOUBT_MILLIS);
    observe(name);
  }

  private void stepFile(int name, int roll) throws Exception {
    if (!state(name).last().isPresent()) {
      createFile(name, false);
    } else if (roll <= APPENDS) {
      append(name);
    } else if (roll < 45) {
      delete(name);
    } else if (roll < 55) {
      rename(name);
    } else if (roll < 75) {
      readPart(name);
    } else {
      observe(name);
    }
  }

  private void stepValue(int name, int roll) throws Exception {
    Content content = state(name).last();
    // Lists do not see a key whose put was given up before its bytes.
    boolean mayOperate =
        !content.isPresent() || content.length() > 0 || content.marks().version() > 0;
    if (content.marks().endMillis() != 0) {
      observeDoubtful(name);
    } else if (roll < 25) {
      put(name);
    } else if (roll < 65 && mayOperate) {
      operate(name);
    } else if (roll < 70 && content.isPresent()) {
      delete(name);
    } else {
      observe(name);
    }
  }

  private void stepMultiFile(int top, int name, int roll) throws Exception {
    if (roll < 40) {
      readAll(top);
    } else if (!state(name).last().isPresent()) {
      createFile(name, true);
    } else if (roll < 70) {
      delete(name);
    } else {
      observe(name);
    }
  }

  private void createContainer(int top, Container kind) throws Exception {
    CrailNodeType type =
        switch (kind) {
          case DIRECTORY, SHARED_DIRECTORY -> CrailNodeType.DIRECTORY;
          case TABLE, SHARED_TABLE -> CrailNodeType.TABLE;
          default -> CrailNodeType.MULTIFILE;
        };
    long losses = namenodeLoss(top);
    Content content = Content.empty(nextId());
    board.write(top, state(top).attempt(content));
    try {
      if (names.isSpread(top)) {
        createSpread(names.path(top), type);
      } else {
        create(top, type);
      }
      board.write(top, state(top).done(content, losses, 0));
      count(top, names.isSpread(top) ? "spread containers" : "containers");
    } catch (Exception e) {
      failed(top, "create", e, NameState.NONE, ErrorCode.NODE_EXISTS);
    }
  }

  private CrailNode create(int name, CrailNodeType type) throws Exception {
    return create(names.path(name), type);
  }

  private CrailNode create(String path, CrailNodeType type) throws Exception {
    return get(
        store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true));
  }

  /**
   * A change has failed, so it may have taken place.
   *
   * @param impossible errors that say that something is there, or not, that must not, or must
   */
  private ErrorCode failed(int name, String what, Exception e, int partner, ErrorCode... impossible)
      throws Exception {
    ErrorCode code = codeOf(what + " " + names.path(name), e);
    NameState state = state(name);
    board.write(name, state.unknown(quiet(), partner));
    for (ErrorCode each : impossible) {
      if (code == each) {
        wrong(name, what + " failed: " + code + "; expected " + state.possible());
      }
    }
    return code;
  }

  // ---- files ----

  private int drawSize() {
    return switch (random.nextInt(10)) {
      case 0, 1, 2 -> 1 + random.nextInt(200);
      case 9 -> 1 + random.nextInt(MOST_LARGE);
      default -> 1 + random.nextInt(MOST_SMALL);
    };
  }

  private void createFile(int name, boolean whole) throws Exception {
    long losses = namenodeLoss(name);
    long datanodes = datanodeLoss();
    long id = nextId();
    board.write(name, state(name).attempt(Content.empty(id)));
    CrailFile file;
    try {
      file = create(name, CrailNodeType.DATAFILE).asFile();
    } catch (Exception e) {
      failed(name, "create", e, NameState.NONE, ErrorCode.NODE_EXISTS, ErrorCode.PARENT_NOT_FOUND);
      return;
    }
    board.write(name, state(name).done(Content.empty(id), losses, datanodes));
    count(name, "created");
    write(name, file, id, whole ? 1 : 1 + random.nextInt(3), whole ? Units.LENGTH : 1);
  }

  private void append(int name) throws Exception {
    if (state(name).last().parts().size() > Content.MAX_PARTS - 4) {
      delete(name);
      return;
    }
    CrailFile file;
    try {
      CrailNode node = get(store.lookup(names.path(name)));
      if (node == null) {
        wrong(name, "is gone; expected " + state(name).possible());
        return;
      }
      file = (CrailFile) node;
      long length = state(name).last().length();
      if (file.getCapacity() != length) {
        wrong(name, "has " + file.getCapacity() + " bytes; expected " + state(name).possible());
        return;
      }
    } catch (Mismatch e) {
      throw e;
    } catch (Exception e) {
      codeOf("look up " + names.path(name), e);
      return;
    }
    write(name, file, nextId(), 1, 1);
  }

  /** Writes parts to a file whose content is known, and closes it. */
  private void write(int name, CrailFile file, long firstOperation, int parts, int unit)
      throws Exception {
    CrailOutputStream out;
    try {
      out = file.getDirectOutputStream(random.nextBoolean() ? 0 : MOST_LARGE);
    } catch (Exception e) {
      ErrorCode code = codeOf("open " + names.path(name), e);
      if (code == ErrorCode.NODE_NOT_FOUND || code == ErrorCode.STALE_NODE) {
        wrong(name, "cannot be opened: " + code);
      }
      return;
    }
    long operation = firstOperation;
    boolean whole = true;
    boolean synced = true;
    Content content = state(name).last();
    for (int i = 0; i < parts && whole && synced; i++) {
      int length = (drawSize() + unit - 1) / unit * unit;
      Content next = content.append(operation, length);
      whole = writePart(name, out, content, operation, length);
      if (whole && random.nextBoolean()) {
        synced = sync(name, out, next);
      }
      content = next;
      operation = nextId();
    }
    close(name, out, content, whole);
    boolean reopens = board.get(Counter.HOLDS) > 0 || random.nextBoolean();
    if (whole && reopens && state(name).isDoubtful() && isFenceable(name)) {
      reopen(name);
    }
  }

  /** True for a file of which only the end may be in doubt. Another writer settles that. */
  private boolean isFenceable(int name) {
    NameState state = state(name);
    long file = state.last().file();
    return names.kindOf(name) == Container.DIRECTORY
        && !names.isContainer(name)
        && file != 0
        && state.partner() < 0
        && state.possible().stream().allMatch(each -> each.file() == file);
  }

  /**
   * Writes to a file again after a sync or a close with an unknown outcome. Opening it took the
   * lease, so nothing that the earlier stream has asked for may change the file any more. While
   * requests are held back, the stream stays open until they have arrived.
   */
  private void reopen(int name) throws Exception {
    CrailOutputStream out = awaitOpen(names.path(name), MOST_LARGE, System.nanoTime());
    if (out == null) {
      wrong(name, "is gone; expected " + state(name).possible());
      return;
    }
    boolean isKnown = observe(name, true) && state(name).isKnown();
    Content content = state(name).last();
    if (!isKnown || content.parts().size() == Content.MAX_PARTS) {
      closeUnchanged(names.path(name), out);
      return;
    }
    long operation = nextId();
    int length = 1 + random.nextInt(MOST_SMALL);
    boolean whole = writePart(name, out, content, operation, length);
    long until = System.nanoTime();
    while (System.nanoTime() - until < TimeUnit.MILLISECONDS.toNanos(LATE_MILLIS)) {
      lookAtLength(name, content.length(), content.length());
      TimeUnit.MILLISECONDS.sleep(DOUBT_MILLIS);
      boolean more = board.get(Counter.HOLDS) > 0 && board.get(Counter.FINISH) == 0;
      until = more ? System.nanoTime() : until;
    }
    count(name, "fenced");
    close(name, out, content.append(operation, length), whole);
  }

  private void closeUnchanged(String path, CrailOutputStream out) throws Exception {
    try {
      out.close();
    } catch (Exception e) {
      codeOf("close " + path, e);
    }
  }

  private boolean writePart(
      int name, CrailOutputStream out, Content content, long operation, int length)
      throws Exception {
    List<Future<CrailResult>> pieces = new ArrayList<>();
    try {
      ByteBuffer bytes = ByteBuffer.allocateDirect(length);
      Units.fill(bytes, content.file(), operation, content.length());
      int piece = random.nextBoolean() ? PIECE : length;
      for (int at = 0; at < length; at += piece) {
        ByteBuffer part = bytes.slice(at, Math.min(piece, length - at));
        pieces.add(out.write(OffHeapBuffer.wrap(part)));
      }
      for (Future<CrailResult> each : pieces) {
        get(each);
      }
      count(name, "written");
      return true;
    } catch (Exception e) {
      codeOf("write to " + names.path(name), e);
      return false;
    }
  }

  private boolean sync(int name, CrailOutputStream out, Content content) throws Exception {
    long losses = state(name).namenodeLoss();
    long datanodes = state(name).datanodeLoss();
    board.write(name, state(name).attempt(content));
    try {
      get(out.sync());
      board.write(name, state(name).done(content, losses, datanodes));
      count(name, "synced");
    } catch (Exception e) {
      codeOf("sync " + names.path(name), e);
      return false;
    }
    lookAtLength(name, content.length(), Long.MAX_VALUE);
    return true;
  }

  /** What was synced is there at once, before anything else makes it visible; and nothing else. */
  private void lookAtLength(int name, long least, long most) throws Exception {
    for (int i = 0; i < MOST_LOOKS; i++) {
      try {
        CrailNode node = get(store.lookup(names.path(name)));
        long found = node == null ? -1 : node.asFile().getCapacity();
        if (found < least || found > most) {
          wrong(name, "has " + found + " bytes after a sync of " + least);
        }
        return;
      } catch (Mismatch e) {
        throw e;
      } catch (Exception e) {
        codeOf("look at the length of " + names.path(name), e);
      }
    }
  }

  private void close(int name, CrailOutputStream out, Content content, boolean whole)
      throws Exception {
    NameState before = state(name);
    long least = before.possible().get(0).length();
    board.write(name, before.attempt(whole ? content : content.fromLength(least)));
    try {
      out.close();
    } catch (Exception e) {
      codeOf("close " + names.path(name), e);
      board.write(name, state(name).unknown(quiet(), NameState.NONE));
      return;
    }
    if (!whole) {
      // Except when this store has removed the node, with its container.
      wrong(name, "close succeeded after a write had failed; " + before);
      board.write(name, state(name).unknown(quiet(), NameState.NONE));
      return;
    }
    board.write(name, before.done(content, before.namenodeLoss(), before.datanodeLoss()));
    count(name, "closed");
  }

  /** A file that only this thread writes, without a reader. */
  private String scratch() {
    return scratch(place.client, place.thread);
  }

  private static String scratch(int client, int thread) {
    return "/w" + client + "-" + thread;
  }

  /** A directory of this thread. */
  private String filling() {
    return "/x" + place.client + "-" + place.thread;
  }

  /** Does nothing but copy, so that a stop is likely to hit the middle of a write. */
  private void writeMuch() throws Exception {
    int worker = place.client * names.threads() + place.thread;
    long id = nextId();
    ByteBuffer piece = ByteBuffer.allocateDirect(LARGE_WRITE);
    Units.fill(piece, id, id, 0);
    try {
      deleteAny(scratch());
      CrailFile file = create(scratch(), CrailNodeType.DATAFILE).asFile();
      CrailOutputStream out = file.getDirectOutputStream(MOST_LARGE_WRITES * LARGE_WRITE);
      try {
        for (int i = 0; i < MOST_LARGE_WRITES && board.isWanted(place.client); i++) {
          board.busy(worker, true);
          get(out.write(OffHeapBuffer.wrap(piece.duplicate())));
          board.busy(worker, false);
        }
      } finally {
        board.busy(worker, false);
        out.close();
      }
      count("written much");
    } catch (Exception e) {
      codeOf("write much to " + scratch(), e);
    }
  }

  /**
   * Fills the space of a client that is stopped in the middle of a write. Nothing may change when
   * that client continues.
   */
  private void takeSpaceOf(int client) throws Exception {
    Map<String, Long> files = new HashMap<>();
    try {
      for (int thread = 0; thread < names.threads(); thread++) {
        deleteAny(scratch(client, thread));
      }
      deleteAny(filling());
      create(filling(), CrailNodeType.DIRECTORY);
    } catch (Exception e) {
      codeOf("take space of client " + client, e);
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      return;
    }
    while (board.stands(client) && board.get(Counter.FINISH) == 0) {
      long id = nextId();
      String path = filling() + "/" + id;
      if (fill(path, id)) {
        files.put(path, id);
      }
    }
    TimeUnit.MILLISECONDS.sleep(CONTINUES_MILLIS);
    for (Map.Entry<String, Long> each : files.entrySet()) {
      try {
        CrailNode node = get(store.lookup(each.getKey()));
        String wrong =
            node == null ? null : strange(read(node.asFile(), 0, PIECE), each.getValue());
        if (wrong != null) {
          throw new Mismatch(each.getKey() + " after client " + client + " continued: " + wrong);
        }
        count("filled");
      } catch (Mismatch e) {
        throw e;
      } catch (Exception e) {
        codeOf("look at " + each.getKey(), e);
      }
    }
    remove(filling(), System.nanoTime());
  }

  /** A directory of this thread, for directories with limits. */
  private String limited() {
    return "/l" + place.client + "-" + place.thread;
  }

  /** How often any namenode has lost everything. */
  private long namenodeLosses() {
    return IntStream.range(0, names.namenodes())
        .mapToLong(index -> board.get(Counter.NAMENODE_LOSS, index))
        .sum();
  }

  /**
   * Makes names in a new directory until its limit refuses them. A create whose outcome is unknown
   * counts or not. A spread directory may refuse before all is used.
   */
  private void reachLimit() throws Exception {
    final long losses = namenodeLosses();
    // No request of an earlier one is for this one.
    String directory = limited() + "/" + nextId();
    int most = 1 + random.nextInt(MOST_NAMES);
    boolean isSpread = names.namenodes() > 1 && random.nextBoolean();
    try {
      deleteAny(limited());
      create(limited(), CrailNodeType.DIRECTORY);
      if (isSpread) {
        createSpread(directory, CrailNodeType.DIRECTORY);
      } else {
        create(directory, CrailNodeType.DIRECTORY);
      }
      get(store.operate(directory, CompoundOperation.builder().limit(-1, most).build())).orThrow();
    } catch (Exception e) {
      codeOf("limit " + directory, e);
      return;
    }
    int made = 0;
    int unknown = 0;
    for (int i = 0; i < most + 2; i++) {
      ErrorCode code = make(directory + "/" + i);
      made += code == ErrorCode.OK ? 1 : 0;
      unknown += code == ErrorCode.OK || code == ErrorCode.QUOTA_EXCEEDED ? 0 : 1;
    }
    int listed = 0;
    boolean isListed = false;
    try {
      CrailNode node = get(store.lookup(directory));
      if (node != null) {
        Iterator<String> entries = node.asContainer().listEntries();
        for (; entries.hasNext(); entries.next()) {
          listed++;
        }
      }
      isListed = true;
    } catch (Exception e) {
      codeOf("list " + directory, e);
    }
    String what =
        String.format(
            "%s with a limit of %d: made %d, listed %d, unknown %d",
            directory, most, made, listed, unknown);
    // What a namenode has lost makes room for others.
    boolean isLost = namenodeLosses() != losses;
    if (listed > most || made > most && !isLost) {
      throw new Mismatch("above it, " + what);
    }
    if (made + unknown < most && !isSpread && !isLost) {
      throw new Mismatch("below it, " + what);
    }
    if (isListed && !isLost && (listed < made || listed > made + unknown)) {
      throw new Mismatch("its names are others, " + what);
    }
    count(isSpread ? "limits of spread ones" : "limits");
  }

  private void createSpread(String path, CrailNodeType type) throws Exception {
    get(
        store.createSpread(
            path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true));
  }

  private ErrorCode make(String path) throws Exception {
    try {
      create(path, CrailNodeType.DATAFILE);
      return ErrorCode.OK;
    } catch (Exception e) {
      return codeOf("create " + path, e);
    }
  }

  private boolean fill(String path, long id) throws Exception {
    ByteBuffer bytes = ByteBuffer.allocateDirect(PIECE);
    Units.fill(bytes, id, id, 0);
    try {
      CrailFile file = create(path, CrailNodeType.DATAFILE).asFile();
      CrailOutputStream out = file.getDirectOutputStream(PIECE);
      try {
        get(out.write(OffHeapBuffer.wrap(bytes)));
      } finally {
        out.close();
      }
      return true;
    } catch (Exception e) {
      codeOf("fill " + path, e);
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      return false;
    }
  }

  private void deleteAny(String path) throws Exception {
    if (get(store.lookup(path)) != null) {
      get(store.delete(path, true));
    }
  }

  private void delete(int name) throws Exception {
    NameState before = state(name);
    board.write(name, before.attempt(Content.ABSENT));
    try {
      get(store.delete(names.path(name), false));
      board.write(name, before.done(Content.ABSENT, before.namenodeLoss(), 0));
      count(name, "deleted");
    } catch (Exception e) {
      failed(
          name,
          "delete",
          e,
          NameState.NONE,
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.PARENT_NOT_FOUND,
          ErrorCode.NOT_EMPTY);
    }
  }

  private void rename(int source) throws Exception {
    int target = names.first(source) + 1 + random.nextInt(ModelNames.PER_CONTAINER - 1);
    if (names.namenodeOf(source) != names.namenodeOf(target)) {
      renameAcross(source, target);
      return;
    }
    NameState from = state(source);
    NameState to = state(target);
    if (!to.isKnown() || to.last().isPresent()) {
      return;
    }
    Content content = from.last();
    board.write(target, to.attempt(content));
    board.write(source, from.attempt(Content.ABSENT));
    try {
      get(store.rename(names.path(source), names.path(target)));
      board.write(target, to.done(content, from.namenodeLoss(), from.datanodeLoss()));
      board.write(source, from.done(Content.ABSENT, from.namenodeLoss(), 0));
      count(source, "renamed");
    } catch (Exception e) {
      board.write(target, state(target).unknown(quiet(), source));
      failed(
          source,
          "rename",
          e,
          target,
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.NODE_EXISTS,
          ErrorCode.PARENT_NOT_FOUND);
    }
  }

  /** A rename from one namenode to another is refused, and changes nothing. */
  private void renameAcross(int source, int target) throws Exception {
    try {
      get(store.rename(names.path(source), names.path(target)));
    } catch (Exception e) {
      ErrorCode code = codeOf("rename across namenodes", e, ErrorCode.CROSS_NAMENODE);
      if (code == ErrorCode.NODE_NOT_FOUND || code == ErrorCode.PARENT_NOT_FOUND) {
        wrong(source, "rename failed: " + code + "; expected " + state(source).possible());
      }
      return;
    }
    throw new Mismatch(names.path(source) + " was renamed to " + names.path(target));
  }

  // ---- values ----

  private void put(int name) throws Exception {
    int length =
        random.nextInt(5) < 3
            ? 1 + random.nextInt(random.nextInt(3) == 0 ? SMALL_VALUE : 5_000)
            : SMALL_VALUE
                + 1
                + random.nextInt(random.nextInt(3) == 0 ? LARGEST_VALUE - SMALL_VALUE : 9_000);
    long losses = namenodeLoss(name);
    long datanodes = datanodeLoss();
    long id = nextId();
    Content content = Content.of(id, length);
    NameState before = state(name);
    // Of a large one under a new name the name comes first, then the bytes. A value that is there
    // stays until the new one is whole.
    boolean isNew = before.possible().stream().anyMatch(each -> !each.isPresent());
    board.write(
        name,
        length > SMALL_VALUE && isNew
            ? before.attempt(Content.empty(id), content)
            : before.attempt(content));
    ByteBuffer value = ByteBuffer.allocateDirect(length);
    Units.fill(value, id, id, 0);
    try {
      get(store.put(names.path(name), OffHeapBuffer.wrap(value)));
      board.write(name, before.done(content, losses, datanodes));
      count(name, length > SMALL_VALUE ? "put large" : "put small");
    } catch (Exception e) {
      ErrorCode code =
          failed(
              name, "put", e, NameState.NONE, ErrorCode.PARENT_NOT_FOUND, ErrorCode.NODE_NOT_FOUND);
      if (code == ErrorCode.NO_SPACE && !place.fills) {
        // It says that it has done nothing.
        board.write(name, before);
      }
    }
  }

  /** Performs a list of steps. */
  private void operate(int name) throws Exception {
    NameState before = state(name);
    long losses = before.last().isPresent() ? before.namenodeLoss() : namenodeLoss(name);
    boolean isKept = before.last().length() <= SMALL_VALUE;
    long datanodes = isKept ? datanodeLoss() : before.datanodeLoss();
    DrawnList list = DrawnList.draw(before.last(), nextId(), random, System.currentTimeMillis());
    if (!isKept && list.changes()) {
      // A list that reads cannot see which of two versions its bytes have.
      return;
    }
    Content after = list.after();
    boolean ends = after.marks().endMillis() != 0;
    if (list.changes()) {
      board.write(name, ends ? before.attempt(after, Content.ABSENT) : before.attempt(after));
    }
    CompoundResult result;
    try {
      result = get(store.operate(names.path(name), list.operation()));
    } catch (Exception e) {
      failed(name, "operate", e, NameState.NONE, ErrorCode.PARENT_NOT_FOUND);
      return;
    }
    String mismatch = list.mismatch(result);
    if (mismatch != null) {
      board.write(name, state(name).unknown(quiet(), NameState.NONE));
      wrong(name, mismatch + ", after " + list, false);
      return;
    }
    board.write(
        name,
        list.changes()
            ? before.done(list.done(System.currentTimeMillis()), losses, datanodes)
            : before);
    count(name, list.changes() ? "operated" : result.isSuccess() ? "looked" : "refused");
  }

  // ---- containers ----

  private void list(int top) throws Exception {
    Set<String> listed = new HashSet<>();
    Set<String> twice = new HashSet<>();
    String path = names.path(names.container(top));
    boolean isShared = names.kindOf(top).isShared();
    int any = isShared ? top + 1 : top;
    try {
      CrailNode node = get(store.lookup(path));
      if (node == null) {
        wrong(any, path + " is gone; expected " + state(names.container(top)).possible());
        return;
      }
      Iterator<String> entries = ((CrailContainer) node).listEntries();
      while (entries.hasNext()) {
        String entry = entries.next();
        if (!listed.add(entry)) {
          twice.add(entry);
        }
      }
    } catch (Mismatch e) {
      throw e;
    } catch (Exception e) {
      codeOf("list " + path, e);
      return;
    }
    for (int i = top + 1; i < top + ModelNames.PER_CONTAINER; i++) {
      boolean isListed = listed.remove(names.path(i));
      if (twice.contains(names.path(i))) {
        wrong(i, "is listed twice");
      }
      if (state(i).isKnown() && state(i).last().isPresent() != isListed) {
        wrong(i, (isListed ? "is listed" : "is not listed") + "; expected " + state(i).possible());
        return;
      }
    }
    if (isShared) {
      // What others make and delete meanwhile may also be there twice.
      listed.removeIf(ModelNames::isWild);
      listed.removeAll(paths(names.kindOf(top)));
    } else if (!twice.isEmpty()) {
      wrong(top, "lists twice: " + twice);
    }
    if (!listed.isEmpty()) {
      wrong(any, "lists what was never made: " + listed);
    }
    count(isShared ? "listed shared" : "listed");
  }

  /** The paths of all names in a shared container. */
  private Set<String> paths(Container kind) {
    Set<String> paths = new HashSet<>();
    for (int i = 0; i < names.count(); i++) {
      if (names.kindOf(i) == kind) {
        paths.add(names.path(i));
      }
    }
    return paths;
  }

  /** Reads a multi-file as one stream. */
  private void readAll(int top) throws Exception {
    Map<Long, Content> known = new HashMap<>();
    int doubtful = 0;
    for (int i = top + 1; i < top + ModelNames.PER_CONTAINER; i++) {
      doubtful += state(i).isKnown() ? 0 : 1;
      Content content = state(i).last();
      if (content.length() > 0) {
        known.put(content.file(), content);
      }
    }
    ByteBuffer found;
    try {
      CrailNode node = get(store.lookup(names.path(top)));
      if (node == null) {
        wrong(top, "is gone; expected " + state(top).possible());
        return;
      }
      try (CrailBufferedInputStream in = node.asMultiFile().getMultiStream(1 + random.nextInt(4))) {
        found = ByteBuffer.wrap(in.readAllBytes());
      }
    } catch (Mismatch e) {
      throw e;
    } catch (Exception e) {
      codeOf("read all of " + names.path(top), e);
      return;
    }
    if (doubtful > 0) {
      return;
    }
    int at = 0;
    while (at < found.limit()) {
      Units.Unit unit = Units.at(found, at);
      Content content = unit == null ? null : known.remove(unit.file());
      if (content == null || at + content.length() > found.limit()) {
        wrong(top, "unexpected at " + at + ": " + Units.describe(found, at) + "; " + known);
        return;
      }
      String mismatch = content.mismatch(found.slice(at, (int) content.length()), 0);
      if (mismatch != null) {
        wrong(top, "as one stream at " + at + ": " + mismatch);
        return;
      }
      at += (int) content.length();
    }
    if (!known.isEmpty()) {
      wrong(top, "as one stream lacks " + known.values());
    }
    count("read multi-files");
  }

  /** Removes a container with all that is in it. */
  private void removeContainer(int top) throws Exception {
    List<Integer> all = beside(top);
    Map<Integer, NameState> before = new HashMap<>();
    for (int each : all) {
      before.put(each, state(each));
      if (state(each).last().isPresent()) {
        board.write(each, state(each).attempt(Content.ABSENT));
      }
    }
    try {
      get(store.delete(names.path(top), true));
    } catch (Exception e) {
      for (int each : all) {
        if (state(each).attempted() > 0) {
          board.write(each, state(each).unknown(quiet(), NameState.NONE));
        }
      }
      if (codeOf("remove " + names.path(top), e) == ErrorCode.NODE_NOT_FOUND) {
        wrong(top, "is gone; expected " + before.get(top).possible());
      }
      return;
    }
    for (int each : all) {
      NameState state = before.get(each);
      // What was asked for before, with an unknown outcome, may still come.
      board.write(
          each,
          state.isKnown()
              ? state.done(Content.ABSENT, state.namenodeLoss(), 0)
              : state(each).unknown(quiet(), NameState.NONE));
    }
    count(top, "removed containers");
    observe(all.get(random.nextInt(all.size())));
  }

  // ---- shared containers ----

  private boolean isShared(int name) {
    return names.kindOf(name).isShared() && !names.isContainer(name);
  }

  /** Whether the shared container in which a name was used last has been removed since. */
  private boolean hasEnded(int name) {
    return hasEnded(name, state(name));
  }

  private boolean hasEnded(int name, NameState state) {
    return isShared(name) && state.life() != board.life(names.kindOf(name)).number();
  }

  /** Whether a name can be there: always, but in a shared container only while that is. */
  private boolean mayUse(int name) {
    if (!isShared(name)) {
      return true;
    }
    int container = names.container(name);
    NameState state = state(container);
    return board.life(names.kindOf(name)).phase() == Phase.THERE
        && state.isKnown()
        && state.last().isPresent()
        && !isLost(container);
  }

  /** What was in an earlier shared container is not in this one. */
  private void adopt(int top, Life life) {
    if (life.phase() != Phase.THERE) {
      return;
    }
    for (int each : beside(top)) {
      NameState state = state(each);
      if (isShared(each) && state.life() < life.number()) {
        // The directory's owner also serves requests that do not say which one they mean.
        boolean mayCome =
            !state.isKnown() && names.namenodeOf(each) == names.namenodeOf(names.container(each));
        long losses = namenodeLoss(each);
        board.write(
            each, mayCome ? state.overtaken(quiet(), life, losses) : state.anew(life, losses));
        count("names anew");
      }
    }
  }

  /** The container of a name was removed, and perhaps made again, while the name was changed. */
  private void overtake(int name) {
    Life last = board.life(names.kindOf(name)).next(Phase.THERE);
    board.write(name, state(name).overtaken(quiet(), last, namenodeLoss(name)));
    count("overtaken");
  }

  private void actShared(int top, Container kind) throws Exception {
    Life before = board.life(kind);
    int rest = before.phase() == Phase.THERE ? KEEPS : 2;
    if (names.isContainer(top) && random.nextInt(rest) == 0) {
      keep(top, kind);
      return;
    }
    adopt(top, before);
    noticeLoss(top);
    if (before.phase() != Phase.THERE || !mayUse(top + 1)) {
      useGone(top, kind);
    } else if (random.nextInt(WILD) == 0) {
      useWild(top, kind);
    } else {
      Map<Integer, Long> versions = new HashMap<>();
      for (int each : beside(top)) {
        versions.put(each, board.version(each));
      }
      boolean changes = stepShared(top, kind);
      if (changes && !board.life(kind).equals(before)) {
        versions.forEach(
            (each, version) -> {
              if (isShared(each) && board.version(each) != version) {
                overtake(each);
              }
            });
      }
    }
  }

  /** Returns whether it may have changed something. */
  private boolean stepShared(int top, Container kind) throws Exception {
    int name = top + 1 + random.nextInt(ModelNames.PER_CONTAINER - 1);
    int roll = random.nextInt(100);
    if (roll < 6) {
      list(top);
      return false;
    }
    if (!state(name).isKnown()) {
      observeDoubtful(name);
      return false;
    }
    if (kind.isTable()) {
      stepValue(name, roll);
    } else {
      stepFile(name, roll);
    }
    return true;
  }

  /** The owner of a shared container makes it and removes it. */
  private void keep(int top, Container kind) throws Exception {
    noticeLoss(top);
    if (!state(top).isKnown()) {
      observeDoubtful(top);
    } else if (state(top).last().isPresent()) {
      if (board.window() > 0) {
        // It might come back, and its children with it.
        return;
      }
      board.enter(kind, Phase.BEING_REMOVED);
      removeShared(top, kind);
    } else {
      // Also when it was lost with its namenode. Others may find its children for a moment then.
      board.enter(kind, Phase.BEING_MADE);
      createContainer(top, kind);
      if (state(top).isKnown() && state(top).last().isPresent()) {
        board.enter(kind, Phase.THERE);
      }
    }
  }

  private void removeShared(int top, Container kind) throws Exception {
    NameState before = state(top);
    board.write(top, before.attempt(Content.ABSENT));
    try {
      get(store.delete(names.path(top), true));
      board.write(top, before.done(Content.ABSENT, before.namenodeLoss(), 0));
      board.enter(kind, Phase.GONE);
      count(top, "removed shared");
    } catch (Exception e) {
      failed(top, "remove", e, NameState.NONE, ErrorCode.NODE_NOT_FOUND, ErrorCode.NOT_EMPTY);
    }
  }

  /** Uses a shared container that comes or goes, or is gone. Then nothing may be found or made. */
  private void useGone(int top, Container kind) throws Exception {
    Life before = board.life(kind);
    int name = 0;
    while (names.kindOf(name) != kind || names.isWild(name)) {
      name = random.nextInt(names.count());
    }
    boolean looks = random.nextBoolean();
    boolean found = false;
    if (looks) {
      try {
        found = look(name) != null;
      } catch (Exception e) {
        codeOf("look at " + names.path(name), e);
      }
    } else {
      found = useWild(top, kind);
    }
    if (before.phase() == Phase.GONE && board.life(kind).equals(before)) {
      if (found) {
        throw new Mismatch(
            (looks ? names.path(name) : "something") + " is in a container that is gone");
      }
      count("not found in gone containers");
    }
  }

  /**
   * Does something in a shared container, whatever comes of that.
   *
   * @return whether it was done
   */
  private boolean useWild(int top, Container kind) throws Exception {
    String path = names.wild(top, random.nextInt(WILD_NAMES));
    String other = names.wild(top, random.nextInt(WILD_NAMES));
    try {
      switch (random.nextInt(5)) {
        case 0, 1 -> {
          if (kind.isTable()) {
            ByteBuffer value = ByteBuffer.allocateDirect(1 + random.nextInt(MOST_SMALL));
            long id = nextId();
            Units.fill(value, id, id, 0);
            get(store.put(path, OffHeapBuffer.wrap(value)));
          } else {
            create(path, random.nextBoolean() ? CrailNodeType.DIRECTORY : CrailNodeType.DATAFILE);
          }
        }
        case 2 -> get(store.rename(path, other, random.nextBoolean()));
        case 3 -> get(store.delete(path, true));
        default -> {
          return get(store.lookup(path)) != null;
        }
      }
      count("wild");
      return true;
    } catch (Exception e) {
      codeOf("use " + path + " and " + other, e, ErrorCode.CROSS_NAMENODE);
      return false;
    }
  }

  // ---- beginning and end ----

  /** Takes over what a process that was killed has left. */
  private void recover() throws Exception {
    if (place.incarnation == 0) {
      return;
    }
    for (Container kind : names.kinds()) {
      for (int i : beside(names.first(place.client, place.thread, kind))) {
        NameState state = state(i);
        if (isShared(i) && (state.attempted() > 0 || hasEnded(i))) {
          overtake(i);
        } else if (state.attempted() > 0) {
          board.write(i, state.unknown(quiet(), state.partner()));
        }
        if (isFenceable(i)) {
          // Before anything deletes it, and with it the lease.
          awaitWritable(names.path(i), System.nanoTime());
          observe(i, true);
        }
      }
    }
    awaitWritable(scratch(), System.nanoTime());
  }

  /** All is known, and what has to be there is; then all is deleted. */
  private void finish() throws Exception {
    long begin = System.nanoTime();
    int unreadable = 0;
    int verified = 0;
    for (Container kind : names.kinds()) {
      int top = names.first(place.client, place.thread, kind);
      for (int i : beside(top)) {
        noticeLoss(top);
        if (isShared(i)) {
          adopt(top, board.life(kind));
        }
        boolean seen = mayUse(i) && observe(i);
        while (mayUse(i) && (!seen || !state(i).isKnown())) {
          // Also one whose deletion is in doubt, since it has no answer to that while it is lost.
          boolean hasBytes = state(i).possible().stream().anyMatch(each -> each.length() > 0);
          boolean mayBeLost = state(i).datanodeLoss() != datanodeLoss() && hasBytes;
          if (!seen && mayBeLost && System.nanoTime() - begin > FINISH_NANOS / 3) {
            unreadable++;
            break;
          }
          if (System.nanoTime() - begin > FINISH_NANOS) {
            throw new Mismatch(
                names.path(i)
                    + (seen ? " is not known" : " cannot be read")
                    + " at the end; expected "
                    + state(i)
                    + "; quiet times "
                    + quiet()
                    + ", losses of datanodes "
                    + datanodeLoss());
          }
          TimeUnit.MILLISECONDS.sleep(100);
          noticeLoss(top);
          seen = observe(i);
        }
        verified++;
      }
      boolean isThere =
          kind.isShared() ? mayUse(top + 1) : state(top).isKnown() && state(top).last().isPresent();
      if (isThere) {
        list(top);
      }
    }
    System.out.println("verified " + verified + ", unreadable " + unreadable);
    int files = names.first(place.client, place.thread, Container.DIRECTORY);
    for (int i = files + 1; i < files + ModelNames.PER_CONTAINER; i++) {
      if (state(i).isKnown() && state(i).last().isPresent()) {
        awaitWritable(names.path(i), begin);
      }
    }
    awaitWritable(scratch(), begin);
    for (Container kind : names.kinds()) {
      int top = names.first(place.client, place.thread, kind);
      if (names.isContainer(top)) {
        if (kind.isShared()) {
          board.enter(kind, Phase.BEING_REMOVED);
        }
        remove(names.path(top), begin);
      }
    }
    remove(scratch(), begin);
    remove(filling(), begin);
    remove(limited(), begin);
    System.out.println("finished");
  }

  /** No lease of anybody who has gone is left. */
  private void awaitWritable(String path, long begin) throws Exception {
    CrailOutputStream out = awaitOpen(path, 0, begin);
    if (out != null) {
      closeUnchanged(path, out);
    }
  }

  /** Opens a file that has no writer any more; null when there is none. */
  private CrailOutputStream awaitOpen(String path, long hint, long begin) throws Exception {
    int held = 0;
    while (true) {
      try {
        CrailNode node = get(store.lookup(path));
        return node == null ? null : node.asFile().getDirectOutputStream(hint);
      } catch (Exception e) {
        ErrorCode code = codeOf("open " + path, e);
        held += code == ErrorCode.WRITE_LEASE_HELD ? 1 : 0;
        if (held == MOST_HELD || System.nanoTime() - begin > 2 * FINISH_NANOS) {
          throw new Mismatch(path + " cannot be written to: " + code + ", " + held + " times held");
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
  }

  private void remove(String path, long begin) throws Exception {
    while (true) {
      try {
        if (get(store.lookup(path)) != null) {
          get(store.delete(path, true));
        }
        return;
      } catch (Exception e) {
        ErrorCode code = codeOf("remove " + path, e);
        if (System.nanoTime() - begin > 2 * FINISH_NANOS) {
          throw new Mismatch(path + " cannot be removed: " + code);
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
  }
}
