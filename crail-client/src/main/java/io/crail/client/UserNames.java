/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Hello;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The names of owners and groups by the numbers that each namenode has given them. A namenode
 * forgets none, so each is asked for once, as long as the namenode does not start anew.
 * Thread-safe.
 */
final class UserNames {
  /** What a namenode has told since one of its starts. */
  private record Known(long incarnation, List<String> names) {}

  private final CoreStore store;
  private final AtomicReferenceArray<Known> known;

  UserNames(CoreStore store, int namenodes) {
    this.store = store;
    this.known = new AtomicReferenceArray<>(namenodes);
  }

  /**
   * The name of a number; waits for the namenode if it is a new one.
   *
   * @param id the node whose owner or group it is
   */
  String name(long id, int number) throws CrailException, InterruptedException {
    LoopContext context = store.context();
    int namenode = (int) Long.remainderUnsigned(id, known.length());
    Hello.Response hello = context.namenodes().hello(namenode);
    Known present = known.get(namenode);
    if (hello == null || present == null || present.incarnation != hello.incarnation()) {
      present = new Known(0, List.of());
    }
    if (number < present.names.size()) {
      return present.names.get(number);
    }
    List<String> names = new ArrayList<>(present.names);
    while (names.size() <= number) {
      List<Names.Name> more =
          context
              .namenodes()
              .callAt(namenode, NameNodeOperations.NAMES, new Names.Request(names.size()))
              .join()
              .names();
      Hello.Response now = context.namenodes().hello(namenode);
      if (hello != null && now.incarnation() != hello.incarnation()) {
        // It has started anew, and the node of this number is gone.
        throw ErrorCode.STALE_NODE.exception("node " + id);
      }
      if (more.isEmpty()) {
        throw ErrorCode.STALE_NODE.exception(
            "node " + id + ": name " + number + " is of another time");
      }
      hello = now;
      more.forEach(name -> names.add(name.text().toString()));
    }
    known.set(namenode, new Known(hello.incarnation(), List.copyOf(names)));
    return names.get(number);
  }
}
