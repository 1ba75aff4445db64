/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.activity;

import io.crail.common.Utf8;
import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What all clients do at a namenode. Thread-safe. */
public final class Activity {
  private record Key(long clientId, long sequence) {}

  private final ConcurrentSkipListMap<Key, ClientActivity> connections =
      new ConcurrentSkipListMap<>(
          Comparator.comparingLong(Key::clientId).thenComparingLong(Key::sequence));
  private final AtomicLong sequence = new AtomicLong();
  private final LongAdder located = new LongAdder();
  private final LongAdder committed = new LongAdder();
  private final HotNodes hotNodes;

  /** Creates one without clients. */
  public Activity(long nowNanos) {
    hotNodes = new HotNodes(nowNanos);
  }

  /** Begins to count a connection. */
  public ClientActivity begin(long clientId, Utf8 host, Utf8 user) {
    return new ClientActivity(this, clientId, sequence.incrementAndGet(), host, user);
  }

  /** Shows the connection, until {@link #end}. */
  public void list(ClientActivity client) {
    connections.put(new Key(client.clientId(), client.sequence()), client);
  }

  /** The connection is gone, and with it what it has counted. */
  public void end(ClientActivity gone) {
    connections.remove(new Key(gone.clientId(), gone.sequence()));
  }

  /** The connections of clients with ids above {@code clientId}, by id and age; may change. */
  public Iterable<ClientActivity> after(long clientId) {
    return connections.tailMap(new Key(clientId, Long.MAX_VALUE), false).values();
  }

  /** The nodes that are looked up most. */
  public HotNodes hotNodes() {
    return hotNodes;
  }

  /** Bytes whose places clients were given since the start, also those that are gone. */
  public long locatedBytes() {
    return located.sum();
  }

  /** Bytes that clients have made visible since the start, also those that are gone. */
  public long committedBytes() {
    return committed.sum();
  }

  void addLocated(long bytes) {
    located.add(bytes);
  }

  void addCommitted(long bytes) {
    committed.add(bytes);
  }

  /** Does the periodic work; one thread at a time. */
  public void tick(long nowNanos) {
    hotNodes.tick(nowNanos);
  }
}
