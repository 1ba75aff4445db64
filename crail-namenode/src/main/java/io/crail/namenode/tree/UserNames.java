/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.node.Names;
import io.crail.protocol.part.TextLimits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers for the names of owners and groups, so that a node keeps two bytes instead of a name. A
 * name gets its number when it is first used, and keeps it. Thread-safe.
 */
public final class UserNames {
  /** The number of the namenode's own user. */
  public static final int OWN = 0;

  private static final int MAX_NAMES = 1 << 16;

  private final Map<Utf8, Integer> numbers = new HashMap<>();
  private final List<Names.Name> names = new ArrayList<>();

  /** Creates the table with the name of the namenode's own user. */
  public UserNames(String own) {
    numbers.put(Utf8.of(own), OWN);
    names.add(new Names.Name(Utf8.of(own)));
  }

  /**
   * The number of a name, a new one if necessary.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when the name is not valid; with
   *     {@link ErrorCode#LIMIT_EXCEEDED} when all numbers are used
   */
  public int number(Utf8 name) throws CrailException {
    synchronized (this) {
      Integer known = numbers.get(name);
      if (known != null) {
        return known;
      }
      String wrong = TextLimits.checkUser(name);
      if (wrong != null) {
        throw ErrorCode.INVALID_ARGUMENT.exception(
            "name of a user or group '" + name + "': " + wrong);
      }
      if (names.size() == MAX_NAMES) {
        throw ErrorCode.LIMIT_EXCEEDED.exception(
            "'" + name + "': there are names of " + MAX_NAMES + " users and groups");
      }
      numbers.put(name, names.size());
      names.add(new Names.Name(name));
      return names.size() - 1;
    }
  }

  /** The names from a number on, as many as fit into one answer. */
  public Names.Response from(int first) {
    List<Names.Name> page = new ArrayList<>();
    int length = 0;
    synchronized (this) {
      for (int i = first; i < names.size(); i++) {
        length += names.get(i).wireLength();
        if (length > Names.MAX_NAMES_LENGTH) {
          break;
        }
        page.add(names.get(i));
      }
    }
    return new Names.Response(page);
  }
}
