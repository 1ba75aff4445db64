/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.client.loop.Loops;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The names of owners and groups, by the numbers that each namenode has given them. A namenode
 * forgets no name before it restarts, so each name is asked for once per start. Thread-safe.
 */
public final class OwnerNames {
  /** The names that a namenode has told since one of its starts. */
  private record Known(long incarnation, List<String> names) {}

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
   * @throws CrailException with {@link ErrorCode#STALE_NODE} when the namenode has restarted since
   *     it told the number, which may now belong to another name
   */
  String name(long id, int number) throws CrailException, InterruptedException {
    NameNodeClient namenodes = loops.context().namenodes();
    int namenode = (int) Long.remainderUnsigned(id, known.length());
    Hello.Response hello = namenodes.hello(namenode);
    Known present = known.get(namenode);
    boolean current =
        hello != null && present != null && present.incarnation == hello.incarnation();
    if (current && hello.mayHaveGiven(id) && number < present.names.size()) {
      return present.names.get(number);
    }
    List<String> names = new ArrayList<>(current ? present.names : List.of());
    do {
      // This request also brings the incarnation of a namenode that this loop does not know yet, or
      // no longer knows.
      List<Names.Name> more =
          namenodes
              .callAt(namenode, NameNodeOperations.NAMES, new Names.Request(names.size()))
              .join()
              .names();
      Hello.Response now = namenodes.hello(namenode);
      boolean anew = hello == null || now.incarnation() != hello.incarnation();
      hello = now;
      if (!now.mayHaveGiven(id)) {
        throw ErrorCode.STALE_NODE.exception("node " + id + " is of an earlier namenode");
      }
      if (anew) {
        // Either of the two starts may have answered.
        names.clear();
        continue;
      }
      if (more.isEmpty() && names.size() <= number) {
        throw ErrorCode.STALE_NODE.exception(
            "node " + id + ": name " + number + " is of another time");
      }
      more.forEach(name -> names.add(name.text().toString()));
    } while (names.size() <= number);
    known.set(namenode, new Known(hello.incarnation(), List.copyOf(names)));
    return names.get(number);
  }
}
