/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.NodeInfo;

/** Sets permission bits, owners and times of nodes. Thread-safe. */
public final class AttributeSetter {
  private final Tree tree;
  private final UserNames users;

  public AttributeSetter(Tree tree, UserNames users) {
    this.tree = tree;
    this.users = users;
  }

  /** Sets the attributes that the request names, and leaves the rest. */
  public NodeInfo setAttributes(SetAttributes.Request request, SessionUser user)
      throws CrailException {
    PathBytes path = PathBytes.of(request.path());
    tree.requireOwn(path);
    int which = request.which();
    if (which > SetAttributes.ALL) {
      throw ErrorCode.INVALID_ARGUMENT.exception(path + ": attributes " + which);
    }
    Tree.requirePermissions(path, request.permissions());
    boolean setsOwner = (which & SetAttributes.OWNER) != 0;
    boolean setsGroup = (which & SetAttributes.GROUP) != 0;
    while (true) {
      Tree.Place place = tree.locate(path);
      if (place.child() == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path.toString());
      }
      // Only for an existing node, so that failing requests use up no numbers.
      int owner = setsOwner ? user.hold(request.owner()).number() : UserNames.OWN;
      int group = UserNames.OWN;
      try {
        group = setsGroup ? user.hold(request.group()).number() : UserNames.OWN;
      } catch (CrailException e) {
        users.release(owner);
        throw e;
      }
      NodeInfo info = setAttributes(place, path, request, owner, group);
      if (info != null) {
        return info;
      }
      users.release(owner);
      users.release(group);
    }
  }

  /** Sets attributes; null when the node is no longer where it was found. */
  private NodeInfo setAttributes(
      Tree.Place place, PathBytes path, SetAttributes.Request request, int owner, int group) {
    Node node = place.child();
    int which = request.which();
    synchronized (path.isRoot() ? node : place.container()) {
      if (!path.isRoot() && !tree.isStill(node, place.container(), path)) {
        return null;
      }
      final int formerOwner = node.owner();
      final int formerGroup = node.group();
      node.attributes(
          (which & SetAttributes.PERMISSIONS) != 0 ? request.permissions() : node.permissions(),
          (which & SetAttributes.OWNER) != 0 ? owner : node.owner(),
          (which & SetAttributes.GROUP) != 0 ? group : node.group());
      if ((which & SetAttributes.MODIFIED) != 0) {
        node.touch(request.modifiedMillis());
      }
      if ((which & SetAttributes.ACCESSED) != 0) {
        node.accessed(request.accessedMillis());
      }
      if ((which & SetAttributes.OWNER) != 0) {
        users.release(formerOwner);
      }
      if ((which & SetAttributes.GROUP) != 0) {
        users.release(formerGroup);
      }
      return node.info();
    }
  }
}
