/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.cluster.KeepAlive;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The clients that one datanode is to cut off, and the space that no other may have before: where
 * nobody checks generations, a writer that sleeps between its look at the clock and its write is
 * stopped by nothing else. A datanode is told a list at a time, and that one until it confirms it;
 * a client that has to be cut off meanwhile stands in the next list, once. Thread-safe.
 */
final class CutOffs {
  /** A client to be cut off, and what waits for it. */
  private static final class Order {
    private final long client;
    private final long sinceNanos;
    private final List<Allocation> extents = new ArrayList<>(0);
    private boolean reported;

    Order(long client, long sinceNanos) {
      this.client = client;
      this.sinceNanos = sinceNanos;
    }
  }

  /**
   * What a datanode is told.
   *
   * @param number of the list; 0 for none
   * @param clients those to cut off
   */
  record Page(long number, List<Long> clients) {
    static final Page NONE = new Page(0, List.of());
  }

  /**
   * What is overdue.
   *
   * @param client the one that has waited longest to be cut off
   * @param clients how many there are
   * @param bytes what waits for them
   * @param sinceNanos when the first of them was ordered
   */
  record Overdue(long client, int clients, long bytes, long sinceNanos) {}

  // By client, in the order in which they come to be told.
  private final Map<Long, Order> next = new LinkedHashMap<>();
  private List<Order> told = List.of();
  // Of all that are not done; null when all are.
  private Order last;
  private Page page = Page.NONE;
  private long lastNumber;
  private long bytes;
  private boolean dead;

  /** Has a client cut off from now on: whatever it has begun at the datanode ends. */
  synchronized void order(long client, long nowNanos) {
    if (!dead) {
      ordered(client, nowNanos);
    }
  }

  // An order that the datanode was told of may be done already: what began after it needs another.
  private Order ordered(long client, long nowNanos) {
    Order known = next.get(client);
    if (known == null) {
      known = new Order(client, nowNanos);
      next.put(client, known);
      last = known;
    }
    return known;
  }

  /**
   * Keeps space, which its datanode counts as waiting, until nobody can write to it any more.
   *
   * @param writer who may do so yet, beside those whose lease ended before a seal; null for nobody
   * @return false, and nothing is kept, when that is so now
   */
  synchronized boolean keep(Allocation extent, Quarantine.Writer writer, long nowNanos) {
    if (dead) {
      return false;
    }
    Order order = writer == null ? null : ordered(writer.client(), nowNanos);
    if (extent.isSealed()) {
      // Those who wrote before a seal were ordered then; lists are done in order.
      order = last;
    }
    if (order == null) {
      return false;
    }
    order.extents.add(extent);
    bytes += extent.allocatedLength();
    return true;
  }

  /** What the datanode is told now. */
  synchronized Page page() {
    if (told.isEmpty() && !next.isEmpty()) {
      told = new ArrayList<>();
      Iterator<Order> orders = next.values().iterator();
      while (orders.hasNext() && told.size() < KeepAlive.MAX_CLIENTS) {
        told.add(orders.next());
        orders.remove();
      }
      page = new Page(++lastNumber, told.stream().map(order -> order.client).toList());
    }
    return page;
  }

  /**
   * The datanode has done what it was told.
   *
   * @param number of the list
   * @return the space that waited for it
   */
  synchronized List<Allocation> done(long number) {
    // Any other number is that of a list before, and comes late.
    return number != page.number || told.isEmpty() ? List.of() : take(told);
  }

  private List<Allocation> take(List<Order> orders) {
    List<Allocation> extents = new ArrayList<>();
    for (Order order : orders) {
      extents.addAll(order.extents);
      order.extents.forEach(extent -> bytes -= extent.allocatedLength());
    }
    told = List.of();
    page = Page.NONE;
    last = next.isEmpty() ? null : last;
    return extents;
  }

  /** The datanode is gone, with all memory that anybody could write to; what waited for it. */
  synchronized List<Allocation> die() {
    dead = true;
    List<Order> all = new ArrayList<>(told);
    all.addAll(next.values());
    next.clear();
    return take(all);
  }

  /** Notes the extents that wait; for tests. */
  synchronized void audit(SpaceAudit audit) {
    List<Order> all = new ArrayList<>(told);
    all.addAll(next.values());
    for (Order order : all) {
      order.extents.forEach(extent -> audit.owned(extent, "client " + order.client));
    }
  }

  /** Bytes that wait. */
  synchronized long bytes() {
    return bytes;
  }

  /** What has not been confirmed since a time; null for nothing, or what was asked for before. */
  synchronized Overdue overdue(long beforeNanos) {
    Order first = told.isEmpty() ? null : told.get(0);
    if (first == null && !next.isEmpty()) {
      first = next.values().iterator().next();
    }
    if (first == null || first.reported || first.sinceNanos - beforeNanos >= 0) {
      return null;
    }
    first.reported = true;
    return new Overdue(first.client, told.size() + next.size(), bytes, first.sinceNanos);
  }
}
