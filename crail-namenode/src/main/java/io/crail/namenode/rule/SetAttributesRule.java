/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.NodeInfo;

/** Decides which permission bits, owners and times nodes get. Thread-safe. */
public final class SetAttributesRule {
  private final Tree tree;
  private final UserNames users;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;

  /** Creates the rule. */
  public SetAttributesRule(State state, Locks locks, Applier applier, Clock clock) {
    this.clock = clock;
    this.tree = state.tree();
    this.users = state.users();
    this.locks = locks;
    this.applier = applier;
  }

  /** Sets the attributes that the request names, and leaves the rest. */
  public NodeInfo setAttributes(SetAttributes.Request request, SessionUser user)
      throws CrailException {
    PathBytes path = PathBytes.of(request.path());
    tree.requireOwn(path);
    if (request.which() > SetAttributes.ALL) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path + ": attributes " + request.which());
    }
    NewNode.requirePermissions(path, request.permissions());
    NodeInfo info = null;
    while (info == null) {
      Tree.Place place = tree.locate(path);
      if (place.child() == null) {
        throw tree.absent(path, ErrorCode.NODE_NOT_FOUND);
      }
      Node node = place.child();
      // Its writer sets its time under its lock, and its children set that of a directory.
      info =
          path.isRoot()
              ? locks.of(node, () -> decide(node, request, user))
              : locks.ofChild(
                  place.container(),
                  node,
                  () -> tree.isStill(node, place.container(), path),
                  () -> decide(node, request, user));
    }
    return info;
  }

  private NodeInfo decide(Node node, SetAttributes.Request request, SessionUser user)
      throws CrailException {
    int which = request.which();
    // The node holds its present owner and group once more if they stay.
    int owner =
        sets(which, SetAttributes.OWNER)
            ? user.hold(request.owner()).number()
            : users.hold(node.owner()).number();
    int group = UserNames.OWN;
    try {
      group =
          sets(which, SetAttributes.GROUP)
              ? user.hold(request.group()).number()
              : users.hold(node.group()).number();
    } catch (CrailException e) {
      users.release(owner);
      throw e;
    }
    int permissions =
        sets(which, SetAttributes.PERMISSIONS) ? request.permissions() : node.permissions();
    // Its lifetime goes by its accesses, and this is one.
    boolean isIdle = tree.extras().of(node).idleMillis() > 0;
    long accessed =
        sets(which, SetAttributes.ACCESSED) ? request.accessedMillis() : node.accessedMillis();
    applier.attributes(
        node,
        Node.attributes(permissions, owner, group),
        sets(which, SetAttributes.MODIFIED) ? request.modifiedMillis() : node.modifiedMillis(),
        isIdle ? clock.currentTimeMillis() : accessed);
    return node.info();
  }

  private static boolean sets(int which, int attribute) {
    return (which & attribute) != 0;
  }
}
