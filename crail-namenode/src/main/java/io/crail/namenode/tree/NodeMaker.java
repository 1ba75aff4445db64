/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.SmallBytes;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserName;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.node.Create;
import io.crail.protocol.part.NodeType;

/**
 * Makes nodes, for creates and puts. Nodes with the same name replace each other in the order in
 * which they are equipped, under their container's monitor; a value goes when the next one is
 * whole. For a small value it makes only the objects that the namenode keeps. Thread-safe.
 */
public final class NodeMaker {
  private final int storageClasses;
  private final Tree tree;
  private final HostNames hosts;
  private final UserNames users;
  private final Outfitter outfitter;

  public NodeMaker(
      NameNodeOptions options, Tree tree, HostNames hosts, UserNames users, Outfitter outfitter) {
    this.storageClasses = options.storageClasses();
    this.tree = tree;
    this.hosts = hosts;
    this.users = users;
    this.outfitter = outfitter;
  }

  /**
   * Makes a node. It replaces a node with bytes if the request says so, and always in a table.
   *
   * @param clientId the client that gets the write lease, if there is one
   * @param user the owner of the node; the group is the parent's
   */
  public Node make(NewNode request, long clientId, SessionUser user) throws CrailException {
    PathBytes path = request.path();
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    int storageClass = request.storageClass();
    if (storageClass < Create.PARENT_CLASS || storageClass >= storageClasses) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "storage class " + storageClass + ", there are " + storageClasses);
    }
    Tree.requirePermissions(path, request.permissions());
    // Before anything is allocated, since there may be no heap, and before the parent is locked.
    SmallBytes value = outfitter.valueOf(request);
    while (true) {
      Container parent = tree.parentOf(path);
      if (!parent.type().mayHold(request.type())) {
        throw ErrorCode.WRONG_TYPE.exception(
            path
                + ": no "
                + request.type()
                + " in a "
                + parent.type()
                + "; choose another parent, such as a directory");
      }
      Node node = request.make(tree.newId(), parent, hosts);
      Node loser;
      synchronized (parent) {
        if (!tree.admits(parent, path)) {
          // The parent is gone or has moved since it was found. Another one may be in its place.
          continue;
        }
        Node old = tree.child(parent, path);
        requireReplaceable(old, node, request, parent);
        tree.charge(node, old, path);
        try {
          tree.place(node, parent, path, old);
          node.attributes(request.permissions(), user.hold().number(), UserNames.OWN);
          node.attributes(request.permissions(), node.owner(), holdGroup(parent).number());
          outfitter.equip(node, request, value, old, clientId);
        } catch (CrailException e) {
          tree.discharge(node);
          throw e;
        }
        loser = tree.link(node, old, parent, request.length());
      }
      if (loser != null) {
        tree.destroy(loser);
      }
      return node;
    }
  }

  private UserName holdGroup(Container parent) {
    UserName group = users.hold(parent.group());
    while (group == null) {
      // The parent got another group meanwhile.
      group = users.hold(parent.group());
    }
    return group;
  }

  private static void requireReplaceable(Node old, Node node, NewNode request, Container parent)
      throws CrailException {
    boolean replaces = request.replaces() || parent.type() == NodeType.TABLE;
    if (old != null && !(replaces && Tree.isWithBytes(old) && Tree.isWithBytes(node))) {
      throw ErrorCode.NODE_EXISTS.exception(request.path().toString());
    }
  }
}
