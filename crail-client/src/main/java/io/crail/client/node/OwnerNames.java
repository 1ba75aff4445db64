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
 * The names of owners and groups by the numbers that each namenode has given them. A namenode
 * forgets none, so each is asked for once, as long as the namenode does not start anew.
 * Thread-safe.
 */
public final class OwnerNames {
  /** What a namenode has told since one of its starts. */
  private record Known(long incarnation, List<String> names) {}

  private final Loops loops;
  private final AtomicReferenceArray<Known> known;

  /**
   * Knows no name yet.
   *
   * @param namenodes how many there are
   */
  public OwnerNames(Loops loops, int namenodes) {
    this.loops = loops;
    this.known = new AtomicReferenceArray<>(namenodes);
  }

  /**
   * The name of a number; waits for the namenode if it is a new one.
   *
   * @param id the node whose owner or group it is
   * @throws CrailException with {@link ErrorCode#STALE_NODE} when the namenode has started anew
   *     since it told the number, which is another name's then
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
      // This asks a namenode that this loop does not know yet, or no longer knows, who it is.
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
        // Nobody knows which of both has answered.
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
