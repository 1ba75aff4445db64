/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Lifetime;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Share;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.user.UserNames;
import io.crail.protocol.cluster.CheckShares;
import io.crail.protocol.cluster.LendQuota;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.part.NodeInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which shares of spread directories this namenode has, as their owners say. Thread-safe.
 */
public final class ShareRule {
  private final NameNodeOptions options;
  private final State state;
  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final Dismantler dismantler;
  private final Clock clock;

  /** What is known of the starts of each owner. Under the lock of all shares. */
  private final Starts[] starts;

  /** What each owner has lent last. Under the lock of all shares. */
  private final Loans[] loans;

  /** The starts of an owner, as its messages show them. */
  private static final class Starts {
    private long present;
    // The number of its last state that was named here.
    private long version;
    // The one before; 0 for none.
    private long ended;
  }

  /** The last loan of an owner to shares of one of its starts. */
  private static final class Loans {
    private long incarnation;
    private long version;

    /** Whether a later loan came before. Versions of another start may be lower. */
    boolean isLate(long start, long number) {
      if (incarnation == start && number < version) {
        return true;
      }
      incarnation = start;
      version = number;
      return false;
    }
  }

  public ShareRule(
      NameNodeOptions options,
      State state,
      Locks locks,
      Applier applier,
      Dismantler dismantler,
      Clock clock) {
    this.options = options;
    this.state = state;
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.dismantler = dismantler;
    this.clock = clock;
    this.starts = new Starts[options.count()];
    Arrays.setAll(starts, owner -> new Starts());
    this.loans = new Loans[options.count()];
    Arrays.setAll(loans, owner -> new Loans());
  }

  /** Sets the state of a share. Returns the children that it has. */
  public SetShare.Response set(SetShare.Request request) throws CrailException {
    requireOther(request.owner());
    if (request.state() > SetShare.GONE
        || !request.type().isContainer()
        || (request.flags() & NodeInfo.SPREAD) == 0
        || request.id() == 0
        || Long.remainderUnsigned(request.id(), options.count()) != request.owner()) {
      throw ErrorCode.INVALID_ARGUMENT.exception("share " + request.id());
    }
    PathBytes path = PathBytes.of(request.path());
    NewNode.requirePermissions(path, request.permissions());
    return new SetShare.Response(locks.ofShares(() -> decide(request, path)));
  }

  private void requireOther(int owner) throws CrailException {
    if (owner == options.index() || owner >= options.count()) {
      throw ErrorCode.INVALID_ARGUMENT.exception("a share of namenode " + owner);
    }
  }

  private int decide(SetShare.Request request, PathBytes path) throws CrailException {
    if (isOver(request.owner(), request.incarnation(), request.version())) {
      return 0;
    }
    Share share = tree.spread().shares().get(request.id());
    if (share == null) {
      if (!request.makes() || request.state() == SetShare.GONE) {
        return 0;
      }
      return make(request, path).childCount();
    }
    Share present = share;
    int children = locks.of(present, present::childCount);
    if (request.version() <= present.version()) {
      return children;
    }
    if (request.state() == SetShare.GONE) {
      drop(present);
      return children;
    }
    boolean isSealed = request.state() == SetShare.SEALED;
    // A removal must not fail for lack of heap for a name.
    NodeExtras extras = isSealed ? null : extras(present, request, path);
    long attributes;
    try {
      attributes = isSealed ? hold(present) : attributes(request);
    } catch (CrailException e) {
      state.budget().give(extras == null ? 0 : extras.footprint());
      throw e;
    }
    return locks.of(
        present,
        () -> {
          applier.setShare(
              present, isSealed, request.version(), attributes, request.modifiedMillis(), extras);
          return present.childCount();
        });
  }

  /**
   * Whether a message is of a start of the owner that has ended: served late, it would bring shares
   * back that are gone. The first message of a start drops what the one before had: the comparison
   * would do that too, but whoever finds a new directory must not find children of an old one with
   * its path. A start with lower versions than another one, since its clock was set back, has not
   * ended. Nor has one that says something newer than all that was heard before.
   */
  private boolean isOver(int owner, long incarnation, long version) {
    Starts known = starts[owner];
    if (incarnation == known.ended && known.ended != 0 && version <= known.version) {
      return true;
    }
    if (incarnation != known.present && version > known.version) {
      known.ended = known.present;
      known.present = incarnation;
      for (Share share : List.copyOf(tree.spread().shares().values())) {
        if (share.owningNamenode() == owner
            && share.incarnation() != incarnation
            && share.version() <= version) {
          drop(share);
        }
      }
    }
    known.version = Math.max(known.version, version);
    return false;
  }

  /** Those that a share gets, with the heap for them; null when it has them. */
  private NodeExtras extras(Share share, SetShare.Request request, PathBytes path)
      throws CrailException {
    NodeExtras present = share == null ? NodeExtras.NONE : tree.extras().of(share);
    Lifetime ofChildren = lifetime(request);
    if (present.lifetimeOfChildren().equals(ofChildren)) {
      return null;
    }
    NodeExtras extras = present.withLifetimeOfChildren(ofChildren);
    state.budget().require(extras.footprint(), 0, path);
    return extras;
  }

  private static Lifetime lifetime(SetShare.Request request) throws CrailException {
    try {
      return new Lifetime(request.childMillis(), request.childIdle());
    } catch (IllegalArgumentException e) {
      throw ErrorCode.INVALID_ARGUMENT.exception("share " + request.id() + ": " + e.getMessage());
    }
  }

  private Share make(SetShare.Request request, PathBytes path) throws CrailException {
    if (tree.find(request.id()) != null) {
      throw ErrorCode.NODE_EXISTS.exception("node " + request.id());
    }
    NodeExtras extras = extras(null, request, path);
    long heapOfExtras = extras == null ? 0 : extras.footprint();
    long footprint =
        Share.footprint(request.type(), request.path().length())
            + heapOfExtras
            + (request.limited() ? Quota.FOOTPRINT : 0);
    long attributes;
    try {
      state.budget().require(footprint - heapOfExtras, 0, path);
    } catch (CrailException e) {
      state.budget().give(heapOfExtras);
      throw e;
    }
    try {
      attributes = attributes(request);
    } catch (CrailException e) {
      state.budget().give(footprint);
      throw e;
    }
    Share share =
        new Share(
            request.id(),
            request.type(),
            request.storageClass(),
            state.hosts().find(request.host()),
            request.flags(),
            attributes,
            clock.currentTimeMillis(),
            request.path(),
            request.owner(),
            request.incarnation(),
            request.version());
    applier.addShare(share, request.state() == SetShare.SEALED, extras, request.limited());
    return share;
  }

  /** Permission bits, and the owner and group, held for the share. */
  private long attributes(SetShare.Request request) throws CrailException {
    UserNames users = state.users();
    int owner = users.holdText(request.user()).number();
    try {
      int group = users.holdText(request.group()).number();
      return Node.attributes(request.permissions(), owner, group);
    } catch (CrailException e) {
      users.release(owner);
      throw e;
    }
  }

  /** The attributes that a share has, with owner and group held once more. */
  private long hold(Share share) {
    state.users().hold(share.owner());
    state.users().hold(share.group());
    return share.attributes();
  }

  /** Under the lock of all shares. */
  private void drop(Share share) {
    boolean isFull =
        locks.of(
            share,
            () -> {
              applier.removeShare(share);
              return share.childCount() > 0;
            });
    if (isFull) {
      dismantler.add(share);
    }
  }

  /** Sets what shares may use of the limits of their directories, and returns what they use. */
  public LendQuota.Response lend(LendQuota.Request request) throws CrailException {
    requireOther(request.owner());
    for (LendQuota.Slice each : request.slices()) {
      if (each.bytes() < Quota.UNLIMITED || each.names() < Quota.UNLIMITED) {
        throw ErrorCode.INVALID_ARGUMENT.exception("a slice of share " + each.id());
      }
    }
    return locks.ofShares(
        () -> {
          Loans known = loans[request.owner()];
          List<LendQuota.Use> uses = new ArrayList<>();
          for (LendQuota.Slice slice : request.slices()) {
            Share share = tree.spread().shares().get(slice.id());
            if (share != null
                && share.owningNamenode() == request.owner()
                && share.incarnation() == request.incarnation()) {
              boolean isLate = known.isLate(request.incarnation(), request.version());
              uses.add(locks.of(share, () -> lend(share, slice, isLate)));
            }
          }
          return new LendQuota.Response(uses);
        });
  }

  private LendQuota.Use lend(Share share, LendQuota.Slice slice, boolean isLate) {
    if (!share.hasOwnQuota()) {
      if (isLate || share.childCount() > 0 || !state.budget().take(Quota.FOOTPRINT, 0)) {
        return new LendQuota.Use(share.id(), false, false, 0, 0, Quota.UNLIMITED, Quota.UNLIMITED);
      }
    }
    Quota.Report report =
        isLate
            ? share.quota().report()
            : applier.lend(share, new Quota.Limits(slice.bytes(), slice.names()));
    Quota.Usage usage = report.usage();
    return new LendQuota.Use(
        share.id(),
        true,
        report.hasRefused(),
        usage.bytes(),
        usage.names(),
        usage.limits().bytes(),
        usage.limits().names());
  }

  /** Drops the shares that their owner does not name, and returns what it has to say again. */
  public CheckShares.Response check(CheckShares.Request request) throws CrailException {
    requireOther(request.owner());
    if (Long.compareUnsigned(request.first(), request.last()) > 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("ids from " + request.first());
    }
    Map<Long, Long> named = new HashMap<>();
    request.directories().forEach(each -> named.put(each.id(), each.version()));
    return locks.ofShares(
        () -> {
          if (isOver(request.owner(), request.incarnation(), request.version())) {
            return new CheckShares.Response(List.of());
          }
          Map<Long, Share> present =
              tree.spread().shares().subMap(request.first(), true, request.last(), true);
          for (Share share : List.copyOf(present.values())) {
            // Versions of a start of the owner are above those of earlier ones.
            boolean isOld =
                share.version() <= request.version()
                    && (share.incarnation() != request.incarnation()
                        || !named.containsKey(share.id()));
            if (share.owningNamenode() == request.owner() && isOld) {
              drop(share);
            }
          }
          List<Long> missing = new ArrayList<>();
          named.forEach(
              (id, version) -> {
                Share share = tree.spread().shares().get(id);
                if (share == null || share.version() < version) {
                  missing.add(id);
                }
              });
          return new CheckShares.Response(missing);
        });
  }
}
