/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The possible content of a file: the sessions of its writers, where each began, and how many of
 * its bytes readers may see.
 */
final class FileModel {
  /** The session of one writer, from the open to the end of its stream. */
  static final class Session {
    private final long writer;
    private final long start;
    private final long openedNanos;
    private long issued;
    private long visible;

    private Session(long writer, long start, long openedNanos) {
      this.writer = writer;
      this.start = start;
      this.openedNanos = openedNanos;
      this.issued = start;
      this.visible = start;
    }

    long writer() {
      return writer;
    }

    long openedNanos() {
      return openedNanos;
    }

    long issued() {
      return issued;
    }
  }

  private final long node;
  private final long createdNanos;
  private boolean removed;
  private final List<Session> sessions = new ArrayList<>();

  /** By time, the length that every later reader sees at least. */
  private final TreeMap<Long, Long> acknowledged = new TreeMap<>();

  FileModel(long node, long createdNanos) {
    this.node = node;
    this.createdNanos = createdNanos;
    acknowledged.put(createdNanos, 0L);
  }

  long createdNanos() {
    return createdNanos;
  }

  boolean isEmpty() {
    return sessions.isEmpty();
  }

  /** A writer has opened a stream at a position. */
  Session opened(long writer, long start, long beginNanos, long nowNanos) {
    checkLength(start, beginNanos);
    Session session = new Session(writer, start, nowNanos);
    sessions.add(session);
    return session;
  }

  /** A client has learned that the file was removed. */
  void removed() {
    removed = true;
  }

  /** A writer has issued a write. */
  void issued(Session session, int length) {
    session.issued += length;
  }

  /** A writer has learned that readers see all bytes up to a length. */
  void acknowledged(Session session, long length, long beginNanos, long nowNanos) {
    if (removed) {
      // If the writer's own store has removed the file, it is no error that the bytes are missing.
      return;
    }
    Session last = sessions.get(sessions.size() - 1);
    // A writer with no new bytes needs no lease.
    if (length > session.visible && last != session && last.openedNanos < beginNanos) {
      throw new AssertionError(
          this
              + ": the writer that opened it at "
              + session.openedNanos / 1_000
              + " us was seen at "
              + nowNanos / 1_000
              + " us that "
              + length
              + " bytes are there, though another has the lease since "
              + last.openedNanos / 1_000
              + " us");
    }
    session.visible = Math.max(session.visible, length);
    if (last == session && length > acknowledged.lastEntry().getValue()) {
      acknowledged.put(nowNanos, length);
    }
  }

  /** Fails when a reader gets an impossible length. */
  void checkLength(long length, long beginNanos) {
    long least = acknowledged.floorEntry(Math.max(beginNanos, createdNanos)).getValue();
    long most = sessions.isEmpty() ? 0 : sessions.get(sessions.size() - 1).issued;
    for (Session session : sessions) {
      // The session that had the lease when the reader began. Bytes that were not committed then
      // are gone.
      most = session.openedNanos >= beginNanos ? Math.max(most, session.issued) : most;
    }
    for (int i = 1; i < sessions.size(); i++) {
      most =
          sessions.get(i).openedNanos >= beginNanos
              ? Math.max(most, sessions.get(i - 1).issued)
              : most;
    }
    if (length < least || length > most) {
      throw new AssertionError(
          this + " has " + length + " bytes, but can only have " + least + " to " + most);
    }
  }

  /** Fails unless the bytes are the written ones. */
  void check(ByteBuffer found, int length) {
    long from = 0;
    for (int i = 0; i < sessions.size() && from < length; i++) {
      // The bytes of a session end where the next session begins.
      long next = i + 1 < sessions.size() ? sessions.get(i + 1).start : length;
      int to = (int) Math.min(length, Math.max(next, from));
      int wrong = Pattern.mismatch(found, (int) from, to, sessions.get(i).writer, from);
      if (wrong < to) {
        throw wrong(found, wrong, length);
      }
      from = to;
    }
    if (from < length) {
      throw wrong(found, (int) from, length);
    }
  }

  private AssertionError wrong(ByteBuffer found, int position, int length) {
    StringBuilder text = new StringBuilder();
    text.append(this).append(": byte ").append(position).append(" of ").append(length);
    text.append(" is not the writer's; writers begin at");
    for (Session session : sessions) {
      text.append(' ').append(session.start);
      if (found.get(position) == Pattern.at(session.writer, position)) {
        text.append(" (its byte)");
      }
    }
    return new AssertionError(text.toString());
  }

  @Override
  public String toString() {
    return "file " + Long.toHexString(node);
  }
}
