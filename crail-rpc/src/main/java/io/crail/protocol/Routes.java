/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.SpreadPath;
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
   * How long a request waits after a namenode had no share of a directory that its owner still has:
   * that namenode was started again, and gets its share soon.
   */
  private static final long DOUBT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final int DOUBTS = 16;
  private static final Known[] NONE = new Known[1];

  private final Clock clock;

  /** Open addressing; at most half full. A change makes a new table. */
  private volatile Known[] table = NONE;

  // Guarded by "this".
  private int count;
  private final long[] doubted = new long[DOUBTS];
  private final long[] doubtedNanos = new long[DOUBTS];
  private int nextDoubt;

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
    Known[] old = table;
    table = NONE;
    count = 0;
    for (Known each : old) {
      if (each != null && each != known) {
        rebuild(each);
      }
    }
  }

  private void rebuild(Known added) {
    Known[] old = table;
    Known[] wider = new Known[Math.max(8, Integer.highestOneBit(++count) * 4)];
    for (Known each : old) {
      if (each != null) {
        insert(wider, each);
      }
    }
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
    /** The request may have another way now. */
    ELSEWHERE
  }

  /** Learns from the refusal of a request. */
  Lesson after(CrailException refusal) {
    if (refusal.code() == ErrorCode.BEING_REMOVED) {
      return Lesson.AGAIN;
    }
    if (refusal.code() != ErrorCode.SPREAD && refusal.code() != ErrorCode.NO_SHARE) {
      return Lesson.NONE;
    }
    SpreadPath.Hint hint = SpreadPath.Hint.of(refusal.detail());
    if (hint == null) {
      return Lesson.NONE;
    }
    if (refusal.code() == ErrorCode.NO_SHARE) {
      doubt(hint.id());
      drop(hint.path(), hint.id());
    } else if (isDoubted(hint.id())) {
      return Lesson.AGAIN;
    } else {
      add(hint.path(), hint.id());
    }
    return Lesson.ELSEWHERE;
  }

  private synchronized boolean isDoubted(long id) {
    long now = clock.nanoTime();
    for (int i = 0; i < DOUBTS; i++) {
      if (doubted[i] == id && doubtedNanos[i] - now > 0) {
        return true;
      }
    }
    return false;
  }

  private synchronized void doubt(long id) {
    doubted[nextDoubt] = id;
    doubtedNanos[nextDoubt] = clock.nanoTime() + DOUBT_NANOS;
    nextDoubt = (nextDoubt + 1) % DOUBTS;
  }
}
