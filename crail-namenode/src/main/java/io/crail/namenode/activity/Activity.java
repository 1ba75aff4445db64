/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.activity;

import io.crail.common.Utf8;
import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** What all clients do at a namenode. Thread-safe. */
public final class Activity {
  private record Key(long clientId, long sequence) {}

  private final ConcurrentSkipListMap<Key, ClientActivity> connections =
      new ConcurrentSkipListMap<>(
          Comparator.comparingLong(Key::clientId).thenComparingLong(Key::sequence));
  private final AtomicLong sequence = new AtomicLong();
  private final ClientActivity.Totals totals;

  /** Creates one without clients. */
  public Activity(long nowNanos) {
    totals = new ClientActivity.Totals(new HotNodes(nowNanos));
  }

  /** Begins to count a connection. */
  public ClientActivity begin(long clientId, Utf8 host, Utf8 user) {
    return new ClientActivity(totals, clientId, sequence.incrementAndGet(), host, user);
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
    return totals.hotNodes();
  }

  /** Bytes whose places clients were given since the start, also those that are gone. */
  public long locatedBytes() {
    return totals.located().sum();
  }

  /** Bytes that clients have made visible since the start, also those that are gone. */
  public long committedBytes() {
    return totals.committed().sum();
  }

  /** Does the periodic work; one thread at a time. */
  public void tick(long nowNanos) {
    totals.hotNodes().tick(nowNanos);
  }
}
