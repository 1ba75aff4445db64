/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import java.util.List;

/**
 * All that a decision depends on. Immutable.
 *
 * @param nowMillis the time, by a clock that only goes on
 * @param members the datanodes of the storage class
 * @param isWhole whether all namenodes have answered, and know all their datanodes
 * @param starting datanodes that were ordered and have not registered yet
 * @param ending whether the controller is about to end a datanode
 * @param addedMillis when datanodes were ordered last; {@link #NEVER} for never
 * @param lowMillis since when the use has been low; {@link #NEVER} if it is not
 */
record ScaleObservation(
    long nowMillis,
    List<ScaleMember> members,
    boolean isWhole,
    int starting,
    Ending ending,
    long addedMillis,
    long lowMillis) {
  /** No time. */
  static final long NEVER = -1;

  /** Whether the controller is about to end a datanode. */
  enum Ending {
    NONE,
    /** It is being drained, and may be put back into use. */
    DRAINS,
    /** It is drained, or being put back into use. */
    LEAVES
  }

  ScaleObservation {
    members = List.copyOf(members);
  }

  /** The datanodes that get new data. */
  List<ScaleMember> serving() {
    return with(ScaleMember.Standing.SERVES);
  }

  List<ScaleMember> with(ScaleMember.Standing standing) {
    return members.stream().filter(each -> each.standing() == standing).toList();
  }

  /** The datanodes whose processes run. */
  int alive() {
    return members.size() - with(ScaleMember.Standing.SILENT).size();
  }
}
