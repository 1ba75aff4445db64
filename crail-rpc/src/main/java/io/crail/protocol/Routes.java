/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.SpreadHint;
import io.crail.protocol.part.SpreadPath;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The spread directories that a client knows. It finds the way of each request: the children of
 * such a directory are at all namenodes, all other nodes at the namenode of their first component.
 * An entry may be old. Then the namenode refuses, and the client learns by that. So a directory
 * costs a client one more round trip once, and an operation none. Thread-safe; readers take no
 * lock.
 */
public final class Routes {
  /** Most directories. When there are more, it forgets all, and learns those in use again. */
  static final int MOST = 4096;

  /**
   * How long a request waits after a namenode had no share of a directory that its owner still has,
   * since it was started again and gets its share soon; or one that was being removed.
   */
  private static final long DOUBT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final Known[] NONE = new Known[1];

  private final Clock clock;

  /** Open addressing; at most half full. A change makes a new table. */
  private volatile Known[] table = NONE;

  // Guarded by "this".
  private int count;
  private final Map<Long, Doubt> doubts = new HashMap<>();

  /** A directory whose share was missing somewhere, or sealed. */
  private static final class Doubt {
    private long untilNanos;
    // The owner has named the directory since.
    private boolean isConfirmed;
  }

  /**
   * A spread directory.
   *
   * @param hash of its path
   */
  private record Known(long hash, Utf8 path, long id) {
    /** True when {@code text} begins with this path. */
    boolean leadsTo(Utf8 text, int length, long textHash) {
      if (hash != textHash || path.length() != length) {
        return false;
      }
      int i = 0;
      while (i < length && path.byteAt(i) == text.byteAt(i)) {
        i++;
      }
      return i == length;
    }
  }

  /** Creates routes without directories. */
  public Routes(Clock clock) {
    this.clock = clock;
  }

  /**
   * The form in which a path travels; the path itself if no known spread directory is on its way.
   *
   * @param text the path, in the form of NodePath
   */
  public Utf8 of(Utf8 text) {
    Known[] known = table;
    if (known == NONE) {
      return text;
    }
    long hash = 0;
    for (int i = 0; i < text.length(); i++) {
      byte next = text.byteAt(i);
      if (next == '/' && i > 0) {
        Known directory = find(known, text, i, hash);
        if (directory != null) {
          return SpreadPath.of(directory.id, i, text);
        }
      }
      hash = hashed(hash, next);
    }
    return text;
  }

  private static Known find(Known[] known, Utf8 text, int length, long hash) {
    int index = slot(known, hash);
    while (known[index] != null) {
      if (known[index].leadsTo(text, length, hash)) {
        return known[index];
      }
      index = index + 1 & known.length - 1;
    }
    return null;
  }

  private static int slot(Known[] known, long hash) {
    return (int) (hash ^ hash >>> 32) & known.length - 1;
  }

  private static long hashed(long hash, byte next) {
    return (hash + next) * 0x9e3779b97f4a7c15L;
  }

  private static long hashOf(Utf8 path) {
    long hash = 0;
    for (int i = 0; i < path.length(); i++) {
      hash = hashed(hash, path.byteAt(i));
    }
    return hash;
  }

  /** Notes a spread directory, in the place of another one with that path. */
  public void add(Utf8 path, long id) {
    Known known = find(table, path, path.length(), hashOf(path));
    if (known == null || known.id != id) {
      put(path, id);
    }
  }

  private synchronized void put(Utf8 path, long id) {
    drop(path, 0);
    if (count >= MOST) {
      table = NONE;
      count = 0;
    }
    rebuild(new Known(hashOf(path), path, id));
  }

  /** Forgets the directory of a path if it has that id; 0 for any id. */
  private synchronized void drop(Utf8 path, long id) {
    Known known = find(table, path, path.length(), hashOf(path));
    if (known == null || (id != 0 && known.id != id)) {
      return;
    }
    count--;
    table = count == 0 ? NONE : copy(table.length, known);
  }

  /** The table without one directory. */
  private Known[] copy(int length, Known without) {
    Known[] copy = new Known[length];
    for (Known each : table) {
      if (each != null && each != without) {
        insert(copy, each);
      }
    }
    return copy;
  }

  private void rebuild(Known added) {
    count++;
    Known[] wider = copy(Math.max(8, Integer.highestOneBit(count) * 4), null);
    insert(wider, added);
    table = wider;
  }

  private static void insert(Known[] into, Known known) {
    int index = slot(into, known.hash);
    while (into[index] != null) {
      index = index + 1 & into.length - 1;
    }
    into[index] = known;
  }

  /** What follows from a refusal. */
  enum Lesson {
    /** The refusal stands. */
    NONE,
    /** The request may be served in a moment. */
    AGAIN,
    /** The owner of the directory has to be asked, which has the path from the root. */
    OWNER,
    /** The request has another way now. */
    ELSEWHERE
  }

  /**
   * Learns from the refusal of a request.
   *
   * @param path the path of the request, as it has travelled
   */
  Lesson after(CrailException refusal, Utf8 path) {
    boolean isAtShare = SpreadPath.isFromSpread(path);
    switch (refusal.code()) {
      case SPREAD, NO_SHARE:
        break;
      case BEING_REMOVED:
        if (isAtShare) {
          break;
        }
        return Lesson.AGAIN;
      default:
        return Lesson.NONE;
    }
    SpreadHint hint = SpreadHint.of(refusal.detail());
    if (hint == null) {
      return Lesson.NONE;
    }
    if (refusal.code() == ErrorCode.SPREAD) {
      return confirmed(hint) ? Lesson.AGAIN : Lesson.ELSEWHERE;
    }
    if (doubt(hint.id()) && refusal.code() == ErrorCode.NO_SHARE) {
      drop(hint.path(), hint.id());
    }
    return Lesson.OWNER;
  }

  /**
   * The owner of a directory names it.
   *
   * @return whether a share of it was in doubt a moment ago
   */
  private synchronized boolean confirmed(SpreadHint hint) {
    Doubt doubt = doubts.get(hint.id());
    boolean isRecent = doubt != null && doubt.untilNanos - clock.nanoTime() > 0;
    if (isRecent) {
      doubt.isConfirmed = true;
    } else {
      doubts.remove(hint.id());
      add(hint.path(), hint.id());
    }
    return isRecent;
  }

  /**
   * A namenode has no share of a directory, or one that is being removed.
   *
   * @return whether that was so before, and the owner has not named the directory since
   */
  private synchronized boolean doubt(long id) {
    if (doubts.size() >= MOST && !doubts.containsKey(id)) {
      doubts.clear();
    }
    Doubt doubt = doubts.get(id);
    boolean isOld = doubt != null && !doubt.isConfirmed;
    if (doubt == null) {
      doubt = new Doubt();
      doubts.put(id, doubt);
    }
    doubt.untilNanos = clock.nanoTime() + DOUBT_NANOS;
    doubt.isConfirmed = false;
    return isOld;
  }

  /** Forgets a directory that is gone. */
  public void forget(Utf8 path, long id) {
    drop(path, id);
  }

  /** True when any directory is known. */
  public boolean isAny() {
    return table != NONE;
  }
}
