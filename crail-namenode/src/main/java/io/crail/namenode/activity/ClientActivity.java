/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.activity;

import io.crail.common.Utf8;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * What is counted of one connection of a client. Counting allocates nothing and needs no atomic
 * instruction, since only the thread of the connection counts; any thread may read.
 */
public final class ClientActivity {
  /** Kinds of operations. */
  public enum Kind {
    /** Asks for nodes or for the places of bytes. */
    LOOKUP,
    /** Changes nodes, or takes space. */
    CHANGE,
    /** Renews leases, and so on. */
    OTHER
  }

  /**
   * What the connections of all clients count together.
   *
   * @param hotNodes the nodes that are looked up most
   * @param located bytes whose places clients were given
   * @param committed bytes that clients have made visible
   */
  record Totals(HotNodes hotNodes, LongAdder located, LongAdder committed) {
    Totals(HotNodes hotNodes) {
      this(hotNodes, new LongAdder(), new LongAdder());
    }
  }

  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int LOCATED = Kind.values().length;
  private static final int COMMITTED = LOCATED + 1;

  private final Totals all;
  private final long clientId;
  private final long sequence;
  private final Utf8 host;
  private final Utf8 user;
  private final long[] counts = new long[COMMITTED + 1];
  private long locatedBefore;
  private int distance;
  private int untilSample = 1;
  private int random;

  ClientActivity(Totals all, long clientId, long sequence, Utf8 host, Utf8 user) {
    this.all = all;
    this.clientId = clientId;
    this.sequence = sequence;
    this.host = host;
    this.user = user;
    this.random = (int) sequence;
    this.distance = 1;
  }

  /** Counts a lookup of a node whose answer has shown the client where so many bytes are. */
  public void located(long nodeId, long bytes) {
    add(LOCATED, bytes);
    if (--untilSample <= 0) {
      sample(nodeId);
    }
  }

  private void sample(long nodeId) {
    followLoad();
    all.hotNodes().offer(nodeId, distance);
    // At random, or of a program that repeats the same lookups only one would be seen.
    distance = all.hotNodes().distance();
    random = random * 1_103_515_245 + 12_345;
    untilSample = 1 + (random >>> 16) % (2 * distance - 1);
  }

  /** Once there are fewer lookups, none of them stands for as many as before. */
  private void followLoad() {
    int now = all.hotNodes().distance();
    if (now < distance) {
      distance = now;
      untilSample = Math.min(untilSample, now);
    }
  }

  /** Counts bytes that the client has made visible. */
  public void committed(long bytes) {
    if (bytes > 0) {
      add(COMMITTED, bytes);
      all.committed().add(bytes);
    }
  }

  /** Counts requests that were served together. */
  public void served(Kind kind, int requests) {
    add(kind.ordinal(), requests);
    followLoad();
    long located = counts[LOCATED];
    if (located != locatedBefore) {
      all.located().add(located - locatedBefore);
      locatedBefore = located;
    }
  }

  private void add(int index, long more) {
    COUNT.setOpaque(counts, index, counts[index] + more);
  }

  /** Requests of a kind so far. */
  public long requests(Kind kind) {
    return count(kind.ordinal());
  }

  /**
   * Bytes whose places were given to the client so far; those of small values came with the answer.
   */
  public long locatedBytes() {
    return count(LOCATED);
  }

  /** Bytes that the client has made visible so far. */
  public long committedBytes() {
    return count(COMMITTED);
  }

  private long count(int index) {
    return (long) COUNT.getOpaque(counts, index);
  }

  /** The client at the other end. It may have more connections. */
  public long clientId() {
    return clientId;
  }

  long sequence() {
    return sequence;
  }

  /** The name of the client's host, as it says. */
  public Utf8 host() {
    return host;
  }

  /** The owner of the nodes that it creates; empty for the namenode's own user. */
  public Utf8 user() {
    return user;
  }
}
