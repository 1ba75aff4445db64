/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Numbers for the names of hosts that have datanodes, so that a node keeps two bytes instead of a
 * name. Clients add none: a node that is created for a host before its first datanode has come may
 * lie anywhere, for good. Thread-safe.
 */
final class HostNames {
  /** The number of no host in particular. */
  static final int ANY = 0;

  private static final int MAX_HOSTS = 1 << 16;

  private final Map<String, Integer> numbers = new HashMap<>();

  HostNames() {
    numbers.put("", ANY);
  }

  /**
   * The number of a host; letter case does not matter. {@link #ANY} when no datanode of that host
   * has registered.
   */
  synchronized int find(Utf8 name) {
    return numbers.getOrDefault(key(name), ANY);
  }

  /** The number of a datanode's host; {@link #ANY}, so nobody prefers it, when all are given. */
  synchronized int add(Utf8 name) {
    int next = numbers.size();
    if (next == MAX_HOSTS) {
      return find(name);
    }
    Integer known = numbers.putIfAbsent(key(name), next);
    return known == null ? next : known;
  }

  private static String key(Utf8 name) {
    return name.toString().toLowerCase(Locale.ROOT);
  }
}
