/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;

/** States of shares, as the owner of their directory says them. */
public final class Shares {
  private Shares() {}

  /** A share that takes children. */
  public static SetShare.Request open(int owner, long id, long version, String path) {
    return state(owner, 5, id, version, SetShare.OPEN, true, 0, path, "", "");
  }

  /** Any state. */
  public static SetShare.Request state(
      int owner,
      long incarnation,
      long id,
      long version,
      int state,
      boolean makes,
      long childMillis,
      String path,
      String user,
      String group) {
    return new SetShare.Request(
        owner,
        incarnation,
        id,
        version,
        state,
        makes,
        NodeType.DIRECTORY,
        NodeInfo.ENUMERABLE | NodeInfo.SPREAD,
        0755,
        0,
        0,
        childMillis,
        childMillis % 2 == 1,
        false,
        Utf8.of(path),
        Utf8.EMPTY,
        Utf8.of(user),
        Utf8.of(group));
  }

  /** The same state of a directory with limits. */
  public static SetShare.Request limited(SetShare.Request state) {
    return new SetShare.Request(
        state.owner(),
        state.incarnation(),
        state.id(),
        state.version(),
        state.state(),
        state.makes(),
        state.type(),
        state.flags(),
        state.permissions(),
        state.storageClass(),
        state.modifiedMillis(),
        state.childMillis(),
        state.childIdle(),
        true,
        state.path(),
        state.host(),
        state.user(),
        state.group());
  }
}
