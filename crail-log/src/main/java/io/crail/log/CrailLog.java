/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;

/**
 * A log that many clients append to. Each position is written at most once, and what was appended
 * is never changed. A client that ends in the middle of an append leaves a position that is not
 * written; others fill it, so that readers can go on.
 *
 * <p>A client that {@linkplain #takeOver takes over} begins a new view. From then on, nothing is
 * written by what was sent in an older view, however late it arrives. The logs of other clients
 * notice, read the view, and continue in it.
 *
 * <p>The bytes are in the memory of the namenodes. When one of them is started again, what it had
 * is gone, and operations that need it fail with a {@link LostPartException}. Make a new log then.
 * The log is a table; remove it with {@code delete(path, true)} when it is not used any more.
 * Thread-safe. All methods wait for the store, and fail with its errors too, such as an {@code
 * UnavailableException}: then a change may have taken place.
 */
public final class CrailLog {
  /** How far beyond all open stripes a position may be. */
  private static final int MOST_AHEAD = 1 << 16;

  /** Stripes that are opened in advance, so that few clients have to ask for them. */
  private static final int OPENED_AHEAD = 8;

  /** Views that an operation may be too late for, one after another. */
  private static final int MOST_ATTEMPTS = 100;

  /** Bytes of the name of a view. */
  private static final int MOST_NAME = 100;

  private final LogHead head;
  private final LogEntries entries;
  private final LogShape shape;
  private volatile Known known;

  /** The last epoch that was read, and the stripes that were open in it or before. */
  private record Known(long epoch, long stripes) {}

  private CrailLog(CrailStore store, String path, LogHead head) throws Exception {
    this.head = head;
    LogHead.State read = head.read();
    this.known = new Known(read.epoch(), read.stripes());
    this.shape = read.shape();
    this.entries = new LogEntries(store, path, shape);
  }

  /**
   * Creates a log and opens it. Its first view has epoch 1 and an empty name.
   *
   * @param store the store, which the caller closes after the last use of the log
   * @param path of the table that is made for the log
   * @param options how the log is laid out
   * @return the log
   * @throws Exception a {@code NodeExistsException}, or an {@code InvalidArgumentException} for
   *     options out of their range; if it fails in the middle, a table without a log may stay
   */
  public static CrailLog create(CrailStore store, String path, LogOptions options)
      throws Exception {
    LogShape shape = options.shape();
    CrailStorageClass storage = CrailStorageClass.DEFAULT;
    CrailLocationClass location = CrailLocationClass.DEFAULT;
    Upcoming<CrailNode> table =
        options.spread()
            ? store.createSpread(path, CrailNodeType.TABLE, storage, location, true)
            : store.create(path, CrailNodeType.TABLE, storage, location, true);
    try {
      table.get();
    } catch (ExecutionException e) {
      throw (CrailException) e.getCause();
    }
    LogHead head = new LogHead(store, path);
    new LogEntries(store, path, shape).makeTail();
    head.create(shape, "");
    return new CrailLog(store, path, head);
  }

  /**
   * Opens a log.
   *
   * @param store the store, which the caller closes after the last use of the log
   * @param path of its table
   * @return the log
   * @throws Exception a {@code NodeNotFoundException} or {@code ParentNotFoundException} when there
   *     is none
   */
  public static CrailLog open(CrailStore store, String path) throws Exception {
    return new CrailLog(store, path, new LogHead(store, path));
  }

  /**
   * Writes an entry at the tail.
   *
   * @param entry the bytes, at most {@link #maxEntry}
   * @return its position: higher than that of each append that had ended before
   * @throws Exception an {@code InvalidArgumentException} for too many bytes; when it fails in
   *     another way, the entry may be there
   */
  public long append(byte[] entry) throws Exception {
    requireLength(entry);
    AlreadyWrittenException lost = null;
    for (int i = 0; i < MOST_AHEAD; i++) {
      long position = inPresentView(entries::take);
      try {
        put(position, entry);
        return position;
      } catch (AlreadyWrittenException e) {
        // Another client has filled it meanwhile, or written it by its number.
        lost = e;
      }
    }
    throw lost;
  }

  /**
   * Writes an entry at a position, which need not be the tail.
   *
   * @param position from 0, at most 65,536 above what the log has room for now
   * @param entry the bytes, at most {@link #maxEntry}
   * @throws Exception an {@link AlreadyWrittenException} when the position was written, filled or
   *     trimmed; an {@code InvalidArgumentException} for a position or length out of its range
   */
  public void write(long position, byte[] entry) throws Exception {
    requireLength(entry);
    requireReach(position);
    put(position, entry);
  }

  private void put(long position, byte[] entry) throws Exception {
    makeRoom(position);
    inPresentView(
        epoch -> {
          entries.write(epoch, position, entry);
          return null;
        });
  }

  /**
   * Reads an entry.
   *
   * @param position from 0
   * @return the bytes
   * @throws Exception a {@link NotWrittenException}; a {@link NoEntryException} when the position
   *     was filled or trimmed
   */
  public byte[] read(long position) throws Exception {
    requirePosition(position);
    if (shape.stripe(position) >= known.stripes()) {
      refresh();
      if (shape.stripe(position) >= known.stripes()) {
        throw new NotWrittenException(position);
      }
    }
    ByteBuffer entry = inPresentView(epoch -> entries.read(epoch, position));
    byte[] bytes = new byte[entry.remaining() - Long.BYTES];
    entry.get(Long.BYTES, bytes);
    return bytes;
  }

  /**
   * Makes sure that a position without an entry gets none. It may be filled or trimmed already.
   *
   * @param position as for {@link #write}
   * @throws Exception an {@link AlreadyWrittenException} when it has an entry
   */
  public void fill(long position) throws Exception {
    requireReach(position);
    makeRoom(position);
    inPresentView(
        epoch -> {
          entries.fill(epoch, position);
          return null;
        });
  }

  /**
   * Removes the entry of a position, and frees its memory. The position may have none: then it gets
   * none.
   *
   * @param position as for {@link #write}
   * @throws Exception an {@code InvalidArgumentException} for a position out of its range
   */
  public void trim(long position) throws Exception {
    requireReach(position);
    makeRoom(position);
    inPresentView(
        epoch -> {
          entries.trim(epoch, position);
          return null;
        });
  }

  /**
   * {@return the position that an append takes next, if it is free} Positions that were written,
   * filled or trimmed above it by their numbers are below it from the next takeover on.
   *
   * @throws Exception only errors of the store
   */
  public long tail() throws Exception {
    return inPresentView(entries::next);
  }

  /**
   * Begins a new view and seals the log. When this returns, nothing is written any more by what was
   * sent in an older view, and all that older views wrote is below the {@linkplain #tail tail}. Its
   * time grows with the length of the log: one request for each key-value.
   *
   * @param by what other clients find in {@link #views}, at most 100 bytes of UTF-8
   * @return the new view
   * @throws Exception a {@link StaleEpochException} when another client took over meanwhile; when
   *     it fails in another way, the view may have begun, but the log is not sealed
   */
  public LogView takeOver(String by) throws Exception {
    int length = by.getBytes(StandardCharsets.UTF_8).length;
    if (length > MOST_NAME) {
      throw invalid("a name of " + length + " bytes, at most " + MOST_NAME);
    }
    long epoch = head.read().epoch() + 1;
    long stripes = head.propose(epoch, by);
    entries.seal(epoch, stripes);
    entries.advance(epoch, entries.maxPosition(epoch, stripes) + 1);
    learn(epoch, stripes);
    return new LogView(epoch, by);
  }

  /**
   * {@return the views, the last 256 of them, in their order; the last one is the present one}
   *
   * @throws Exception only errors of the store
   */
  public List<LogView> views() throws Exception {
    return head.read().views();
  }

  /** {@return the most bytes of an entry} */
  public int maxEntry() {
    return shape.maxEntry();
  }

  /** The entries, for tests that act in a certain epoch. */
  LogEntries entries() {
    return entries;
  }

  /** The head, for tests that act in a certain epoch. */
  LogHead head() {
    return head;
  }

  private interface Attempt<T> {
    T in(long epoch) throws Exception;
  }

  /** What was refused because of its epoch has changed nothing, so it may be sent in the next. */
  private <T> T inPresentView(Attempt<T> attempt) throws Exception {
    for (int i = 1; ; i++) {
      try {
        return attempt.in(known.epoch());
      } catch (StaleEpochException e) {
        if (i == MOST_ATTEMPTS) {
          throw e;
        }
        refresh();
      }
    }
  }

  /**
   * Opens the stripe of a position before anything is written there. Who takes over finds all open
   * stripes in the head, and no other key can be written in the epochs before. The keys of open
   * stripes are there, so that a part of the log that is lost is not taken for one that is empty.
   */
  private void makeRoom(long position) throws Exception {
    long stripe = shape.stripe(position);
    if (stripe >= known.stripes()) {
      refresh();
      inPresentView(
          epoch -> {
            entries.make(known.stripes(), stripe + OPENED_AHEAD);
            learn(epoch, head.open(epoch, stripe + OPENED_AHEAD));
            return null;
          });
    }
  }

  /** Who takes over seals all open stripes, so one wrong number must not open very many. */
  private void requireReach(long position) throws Exception {
    requirePosition(position);
    if (isTooFar(position)) {
      refresh();
      if (isTooFar(position)) {
        throw invalid("position " + position + " is too far beyond the tail");
      }
    }
  }

  private boolean isTooFar(long position) {
    return shape.stripe(position) > known.stripes() + shape.stripe(MOST_AHEAD);
  }

  private void refresh() throws Exception {
    LogHead.State read = head.read();
    learn(read.epoch(), read.stripes());
  }

  /** What is known never becomes older. */
  private synchronized void learn(long epoch, long stripes) {
    known = new Known(Math.max(epoch, known.epoch()), Math.max(stripes, known.stripes()));
  }

  private static void requirePosition(long position) throws Exception {
    if (position < 0) {
      throw invalid("position " + position);
    }
  }

  private void requireLength(byte[] entry) throws Exception {
    if (Objects.requireNonNull(entry, "entry").length > shape.maxEntry()) {
      throw invalid("an entry of " + entry.length + " bytes, at most " + shape.maxEntry());
    }
  }

  private static CrailException invalid(String what) {
    return ErrorCode.INVALID_ARGUMENT.exception(what);
  }
}
