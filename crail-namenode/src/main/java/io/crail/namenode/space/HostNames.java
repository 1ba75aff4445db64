/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Utf8;
import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.part.TextLimits;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/**
 * Numbers for the names of hosts that have datanodes, or for which clients create nodes. So a node
 * keeps two bytes instead of a name. A host keeps its number when its first datanode registers, so
 * bytes that are written to older nodes after that can go to the datanode. Thread-safe.
 */
public final class HostNames {
  /** The number of no host in particular. */
  public static final int ANY = 0;

  private static final int MAX_HOSTS = 1 << 16;

  // The remaining numbers are for datanodes, so that names from clients cannot use them up.
  private static final int MAX_HOSTS_OF_CLIENTS = 1 << 14;

  private final Map<String, Integer> numbers = new HashMap<>();

  private final HeapBudget budget;
  private final ObjIntConsumer<Utf8> onNumber;
  private int ofClients;
  private long footprint;

  /**
   * Creates an empty table.
   *
   * @param onNumber gets each name with its number, before anything has the number
   */
  public HostNames(HeapBudget budget, ObjIntConsumer<Utf8> onNumber) {
    this.budget = budget;
    this.onNumber = onNumber;
    numbers.put("", ANY);
  }

  /**
   * The number of a host that a client names, with or without a datanode. Letter case does not
   * matter. {@link #ANY} for an invalid name, and for a host without datanodes when there are too
   * many of these or no heap is left for its name.
   */
  public synchronized int find(Utf8 name) {
    String key = key(name);
    Integer known = numbers.get(key);
    if (known != null) {
      return known;
    }
    boolean refused =
        ofClients == MAX_HOSTS_OF_CLIENTS
            || TextLimits.checkHost(key) != null
            || !budget.hasRoom(footprint(key));
    return refused ? ANY : give(key, true);
  }

  /** The name with a number, in small letters; empty for {@link #ANY}. Looks at all names. */
  public synchronized Utf8 name(int number) {
    for (Map.Entry<String, Integer> each : numbers.entrySet()) {
      if (each.getValue() == number) {
        return Utf8.of(each.getKey());
      }
    }
    return Utf8.EMPTY;
  }

  /**
   * The number of a datanode's host. When all numbers are used, {@link #ANY}; then no node prefers
   * the host.
   */
  public synchronized int add(Utf8 name) {
    String key = key(name);
    Integer known = numbers.get(key);
    if (known != null) {
      return known;
    }
    return numbers.size() == MAX_HOSTS ? ANY : give(key, false);
  }

  private int give(String key, boolean ofClient) {
    int number = numbers.size();
    onNumber.accept(Utf8.of(key), number);
    put(key, number, ofClient);
    return number;
  }

  private void put(String key, int number, boolean ofClient) {
    budget.add(footprint(key));
    footprint += footprint(key);
    numbers.put(key, number);
    ofClients += ofClient ? 1 : 0;
  }

  /** Whether a name has the number. */
  public synchronized boolean knows(int number) {
    return number < numbers.size();
  }

  /**
   * Gives a name the number that a record says, which is the next one.
   *
   * @return false when it is not
   */
  public synchronized boolean restore(int number, Utf8 name) {
    String key = name.toString();
    if (number != numbers.size() || numbers.containsKey(key)) {
      return false;
    }
    // Whether a client or a datanode has named it is in no record; then clients may name fewer.
    put(key, number, ofClients < MAX_HOSTS_OF_CLIENTS);
    return true;
  }

  /** Visits all names with their numbers, in the order of the numbers, except {@link #ANY}. */
  public synchronized void forEach(ObjIntConsumer<Utf8> visitor) {
    numbers.entrySet().stream()
        .filter(each -> each.getValue() != ANY)
        .sorted(Map.Entry.comparingByValue())
        .forEach(each -> visitor.accept(Utf8.of(each.getKey()), each.getValue()));
  }

  private static long footprint(String key) {
    // The letters of a host name take a byte each.
    return Footprint.object(1, 6) + Footprint.bytes(key.length()) + Footprint.MAP_ENTRY;
  }

  /** Bytes of heap of all names; for tests. */
  public synchronized long footprint() {
    return footprint;
  }

  private static String key(Utf8 name) {
    return name.toString().toLowerCase(Locale.ROOT);
  }
}
