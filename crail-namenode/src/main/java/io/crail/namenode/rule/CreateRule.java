/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.quota.QuotaCharge;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.user.SessionUser;
import io.crail.namenode.user.UserName;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.part.NodeType;

/**
 * Decides creates and puts. Nodes with the same name replace each other in the order of these
 * decisions; a value ends when the next one is whole. For a small value it makes only the objects
 * that the namenode keeps: what is known of a request stands in fields, so that decisions under
 * locks need no objects. Belongs to one connection; not thread-safe.
 */
public final class CreateRule {
  private final int storageClasses;
  private final State state;
  private final Tree tree;
  private final Supply supply;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;
  private final SessionUser user;

  private final Locks.Decision<Node, CrailException> underParent = this::decide;
  private final Locks.Decision<Node, CrailException> alone = this::decideSpread;
  private final Locks.Decision<Node, CrailException> underOld = this::make;
  private final Locks.Decision<Node, CrailException> underNode = this::placeForWriter;

  private NewNode request;
  private SmallBytes value;
  private Container parent;
  // Null for none.
  private NodeExtras extras;
  // Null for none.
  private Node old;
  private Node node;
  private QuotaCharge charge = QuotaCharge.NONE;

  /** Creates the rule for a connection; {@code user} is at its other end. */
  public CreateRule(
      NameNodeOptions options,
      State state,
      Supply supply,
      Locks locks,
      Applier applier,
      Clock clock,
      SessionUser user) {
    this.storageClasses = options.storageClasses();
    this.state = state;
    this.tree = state.tree();
    this.supply = supply;
    this.locks = locks;
    this.applier = applier;
    this.clock = clock;
    this.user = user;
  }

  /**
   * Creates a node. It replaces a node with bytes if the request says so, and always in a table.
   * The caller gets the write lease, if there is one, and owns the node; the group is the parent's.
   *
   * @param newNode what is requested; used only during the call
   */
  public Node create(NewNode newNode) throws CrailException {
    request = newNode;
    PathBytes path = request.path();
    tree.requireOwn(path);
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    request.requireClass(storageClasses);
    // Before anything is taken, since there may be no heap, and before the parent is locked.
    value = valueOf();
    try {
      Node made = null;
      while (made == null) {
        parent = tree.parentOf(path);
        request.requireType(parent);
        made = request.spreadId() == 0 ? locks.of(parent, underParent) : locks.of(parent, alone);
      }
      return made;
    } finally {
      forget();
    }
  }

  /**
   * Creates a node, as {@link #create} does, in a container that admits it.
   *
   * @param container the container, whose lock is held
   * @param replaced the node with bytes in whose place it will be, whose lock is held too; null for
   *     none
   */
  public Node createIn(Container container, Node replaced, NewNode newNode) throws CrailException {
    request = newNode;
    value = valueOf();
    parent = container;
    old = replaced;
    try {
      request.requireType(parent);
      return make();
    } finally {
      forget();
    }
  }

  /** So that a connection keeps no node from the collector. */
  private void forget() {
    request = null;
    value = null;
    parent = null;
    extras = null;
    old = null;
    node = null;
    charge = QuotaCharge.NONE;
  }

  /** For the value that came with a put if it is small enough to be kept, otherwise null. */
  private SmallBytes valueOf() {
    int length = request.valueLength();
    return length == 0 ? null : state.values().of(length);
  }

  /** Under the parent's lock. Returns null when the parent has gone or moved since it was found. */
  private Node decide() throws CrailException {
    if (!tree.admits(parent, request.path())) {
      return null;
    }
    tree.requireOpen(parent);
    old = tree.child(parent, request.path());
    if (request.isStaged()) {
      request.placeLike(old);
      old = null;
    }
    if (old == null) {
      return make();
    }
    boolean replaces = request.replaces() || parent.type() == NodeType.TABLE;
    if (!replaces || !Tree.isWithBytes(old) || request.type().isContainer()) {
      throw ErrorCode.NODE_EXISTS.exception(request.path().toString());
    }
    // So that a value which its writer ends now is either there before, or refused.
    return locks.of(old, underOld);
  }

  /** As {@link #decide}, for a spread directory: the other namenodes know it by its path. */
  private Node decideSpread() throws CrailException {
    return locks.withoutRenames(
        () -> {
          request.requireNoneAbove(parent);
          return tree.locate(request.path()).parent() == parent ? decide() : null;
        });
  }

  /** Takes what the node needs, or nothing, and makes it. Under the lock of the old one too. */
  private Node make() throws CrailException {
    extras = request.extras();
    if (extras == null && parent.hasExtras() && !request.isStaged()) {
      extras = tree.extras().of(parent).ofChild(clock.currentTimeMillis());
    }
    long footprint = request.footprint() + (extras == null ? 0 : extras.footprint());
    long freed = old == null ? 0 : old.footprint() + tree.extras().footprint(old);
    state.budget().require(footprint, freed, request.path());
    int owner = UserNames.OWN;
    int group = UserNames.OWN;
    charge = QuotaCharge.of(parent.quota(), old == null ? null : old.space());
    try {
      owner = user.hold().number();
      group = holdGroup().number();
      if (old == null && !request.isStaged()) {
        charge.requireName(request.path());
      }
      boolean isKept = value != null && takeSmall();
      node =
          request.node(
              request.spreadId() == 0 ? tree.newId() : request.spreadId(),
              parent,
              state.hosts(),
              !isKept,
              Node.attributes(request.permissions(), owner, group),
              clock.currentTimeMillis());
      if (isKept) {
        request.writeTo(value);
        place(value, null);
      } else if (request.token() != 0 && Tree.isWithBytes(node)) {
        locks.of(node, underNode);
      } else if (request.valueLength() > 0) {
        throw state.values().refusal(request.path(), request.valueLength());
      } else {
        place(null, null);
      }
      return node;
    } catch (CrailException e) {
      charge.undo();
      state.users().release(owner);
      state.users().release(group);
      state.budget().give(footprint);
      throw e;
    }
  }

  /** Takes memory for the small value, and as much of the quota; false when there is no memory. */
  private boolean takeSmall() throws CrailException {
    charge.requireBytes(value.length(), request.path());
    boolean isTaken = supply.takeSmall(value, old);
    if (!isTaken) {
      charge.giveBack(value.length());
    }
    return isTaken;
  }

  private UserName holdGroup() {
    UserName group = state.users().hold(parent.group());
    while (group == null) {
      // The parent got another group meanwhile.
      group = state.users().hold(parent.group());
    }
    return group;
  }

  /** Places a node with a write lease, and with the space that its writer needs at first. */
  private Node placeForWriter() throws CrailException {
    WriteLease<Node> lease = state.leases().grant(node, user.caller().client(), request.token());
    try {
      boolean isToCome = old != null && node.isBeingPut() && old.hasValue();
      if (isToCome) {
        // Both have space for a while.
        charge = QuotaCharge.of(parent.quota(), null);
      }
      NodeSpace space = supply.first(node, request, lease.client(), charge);
      if (isToCome) {
        applier.linkPending(node, space, lease, extras, request.path(), old, request.length());
      } else {
        place(space, lease);
      }
      return node;
    } catch (CrailException e) {
      state.leases().giveBack(lease);
      throw e;
    }
  }

  private void place(NodeSpace space, WriteLease<Node> lease) {
    if (request.isStaged()) {
      applier.stage(node, space, lease, parent, request.path(), request.length());
    } else if (old == null) {
      applier.link(node, space, lease, extras, parent, request.path());
    } else {
      applier.replace(node, space, lease, extras, request.path(), old);
    }
  }
}
