/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.client.loop.Loops;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.Names;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The names of owners and groups, by the numbers that each namenode has given them. A number stands
 * for one name until the namenode restarts, so each is asked for once per start. Thread-safe.
 */
public final class OwnerNames {
  private static final int SLOT_MASK = (1 << Names.SLOT_BITS) - 1;

  /** The names that a namenode has sent since one of its starts, by the slots of their numbers. */
  private record Known(long incarnation, Map<Integer, Names.Name> names) {
    String name(int number) {
      Names.Name name = names.get(number & SLOT_MASK);
      return name == null || name.number() != number ? null : name.text().toString();
    }
  }

  private final Loops loops;
  private final AtomicReferenceArray<Known> known;

  /**
   * Creates an empty table.
   *
   * @param namenodes the number of namenodes
   */
  public OwnerNames(Loops loops, int namenodes) {
    this.loops = loops;
    this.known = new AtomicReferenceArray<>(namenodes);
  }

  /**
   * The name of a number; waits for the namenode if the number is new.
   *
   * @param id the node whose owner or group it is
   * @throws CrailException with {@link ErrorCode#STALE_NODE} when the number may now belong to
   *     another name: the namenode has restarted since, or no node has had the name meanwhile
   */
  String name(long id, int number) throws CrailException, InterruptedException {
    NameNodeClient namenodes = loops.context().namenodes();
    int namenode = (int) Long.remainderUnsigned(id, known.length());
    Hello.Response hello = namenodes.hello(namenode);
    Known present = known.get(namenode);
    boolean current =
        hello != null && present != null && present.incarnation == hello.incarnation();
    if (current && hello.mayHaveGiven(id) && present.name(number) != null) {
      return present.name(number);
    }
    List<Names.Name> page;
    boolean anew;
    do {
      // This request also brings the incarnation of a namenode that this loop does not know yet, or
      // no longer knows.
      page =
          namenodes
              .callAt(namenode, NameNodeOperations.NAMES, new Names.Request(number))
              .join()
              .names();
      Hello.Response now = namenodes.hello(namenode);
      // Then either of the two starts may have answered.
      anew = hello == null || now.incarnation() != hello.incarnation();
      hello = now;
      if (!now.mayHaveGiven(id)) {
        throw ErrorCode.STALE_NODE.exception("node " + id + " is of an earlier namenode");
      }
    } while (anew);
    if (present == null || present.incarnation != hello.incarnation()) {
      present = new Known(hello.incarnation(), new ConcurrentHashMap<>());
      known.set(namenode, present);
    }
    for (Names.Name name : page) {
      present.names.put(name.number() & SLOT_MASK, name);
    }
    String name = present.name(number);
    if (name == null) {
      throw ErrorCode.STALE_NODE.exception(
          "node " + id + ": name " + number + " is of another time");
    }
    return name;
  }
}
