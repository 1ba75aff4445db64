/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.protocol.cluster.KeepAlive;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ObjLongConsumer;

/**
 * The clients that one datanode must cut off, and the space that waits for it. On a tier without
 * generation checks, nothing else stops a writer that sleeps between its look at the clock and its
 * write. The datanode gets one list at a time, until it confirms that list. A client that must be
 * cut off in the meantime is put into the next list, once. Thread-safe.
 */
public final class CutOffs {
  /** A client to be cut off, and the space that waits for this. */
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
   * A list as the datanode gets it.
   *
   * @param number of the list; 0 for none
   * @param clients the clients to cut off
   */
  public record Page(long number, List<Long> clients) {
    static final Page NONE = new Page(0, List.of());
  }

  /**
   * The cut-offs that are overdue.
   *
   * @param client the client that has waited longest to be cut off
   * @param clients the number of clients that wait to be cut off
   * @param bytes the bytes that wait for these cut-offs
   * @param sinceNanos when the first of these cut-offs was ordered
   */
  public record Overdue(long client, int clients, long bytes, long sinceNanos) {
    /** For the log. */
    public String text(long nowNanos) {
      return String.format(
          Locale.ROOT,
          "%x for %d ms; %s wait for that of %d clients",
          client,
          (nowNanos - sinceNanos) / 1_000_000,
          ByteText.of(bytes),
          clients);
    }
  }

  // By client, in the order in which the datanode will get them.
  private final Map<Long, Order> next = new LinkedHashMap<>();
  private List<Order> told = List.of();
  // The last order that is not done; null when all are done.
  private Order last;
  private Page page = Page.NONE;
  private long lastNumber;
  private long bytes;
  private boolean dead;

  /**
   * Creates it without orders.
   *
   * @param lastNumber a number below those of all lists
   */
  CutOffs(long lastNumber) {
    this.lastNumber = lastNumber;
  }

  /** Numbers lists from here on, before the first one. */
  synchronized void numberAfter(long number) {
    lastNumber = number;
  }

  /** Orders that a client be cut off: whatever it has begun at the datanode must end. */
  synchronized void order(long client, long nowNanos) {
    if (!dead) {
      ordered(client, nowNanos);
    }
  }

  // An order that the datanode has may be done already. What began after it needs a new order.
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
   * Keeps space, which its datanode counts as waiting, until no client can write to it any more.
   *
   * @param client the client that may still write, besides those whose lease ended before a seal;
   *     null for none
   * @return false when no client can write to it now; then nothing is kept
   */
  synchronized boolean keep(Allocation extent, Long client, long nowNanos) {
    if (dead) {
      return false;
    }
    Order order = client == null ? null : ordered(client, nowNanos);
    if (extent.isSealed()) {
      // The cut-off of each client that wrote before a seal was ordered then. Orders are done in
      // sequence, so the last one covers them all.
      order = last;
    }
    if (order == null) {
      return false;
    }
    order.extents.add(extent);
    bytes += extent.allocatedLength();
    return true;
  }

  /** The list that the datanode gets now. */
  public synchronized Page page() {
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
   * Notes that the datanode has cut off the clients of a list.
   *
   * @param number of the list
   * @return the space that waited for it
   */
  synchronized List<Allocation> done(long number) {
    // Any other number belongs to an earlier list and comes late.
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

  /**
   * Notes that the datanode is gone, with all memory that a client could write to. Returns the
   * space that waited for it.
   */
  synchronized List<Allocation> die() {
    dead = true;
    List<Order> all = new ArrayList<>(told);
    all.addAll(next.values());
    next.clear();
    return take(all);
  }

  /** The clients that are not known to be cut off, in the order of the orders. */
  public synchronized List<Long> clients() {
    List<Long> clients = new ArrayList<>();
    told.forEach(order -> clients.add(order.client));
    clients.addAll(next.keySet());
    return clients;
  }

  /** Visits the extents that wait, each with the client whose cut-off it waits for. */
  synchronized void forEach(ObjLongConsumer<Allocation> visitor) {
    List<Order> all = new ArrayList<>(told);
    all.addAll(next.values());
    for (Order order : all) {
      order.extents.forEach(extent -> visitor.accept(extent, order.client));
    }
  }

  /** Notes the extents that wait; for tests. */
  synchronized void audit(SpaceAudit audit) {
    forEach((extent, client) -> extent.audit(audit, "client " + client));
  }

  /** The number of extents that wait; for tests. */
  synchronized int extents() {
    int extents = 0;
    for (Order order : told) {
      extents += order.extents.size();
    }
    for (Order order : next.values()) {
      extents += order.extents.size();
    }
    return extents;
  }

  /** The bytes that wait. */
  public synchronized long bytes() {
    return bytes;
  }

  /**
   * Cut-offs that were ordered before a time and are not confirmed; null when there are none, or
   * when the first one was already reported.
   */
  public synchronized Overdue overdue(long beforeNanos) {
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
