/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.StepKind;
import io.crail.namenode.change.Applier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.State;
import io.crail.namenode.classes.NodeClasses;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.query.DatanodeReports;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.quota.QuotaCharge;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeType;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/**
 * Decides compound operations: the steps of a {@link CompoundRun} on one node, under the locks of
 * the node and of its parent. All that they change is one change of the node. Thread-safe.
 */
public final class CompoundRule {
  private final State state;
  private final Tree tree;
  private final Locks locks;
  private final Applier applier;
  private final Clock clock;
  private final DatanodeReports datanodes;
  private final NodeClasses classes;

  /** Lists that were not done, by the number of the error of the step that failed. */
  private final LongAdder[] failures =
      Stream.generate(LongAdder::new).limit(ErrorCode.values().length).toArray(LongAdder[]::new);

  public CompoundRule(
      State state,
      Locks locks,
      Applier applier,
      DatanodeReports datanodes,
      Clock clock,
      NodeClasses classes) {
    this.datanodes = datanodes;
    this.classes = classes;
    this.state = state;
    this.tree = state.tree();
    this.locks = locks;
    this.applier = applier;
    this.clock = clock;
  }

  /** Makes a node. Under the lock of its parent. */
  public interface Maker {
    /**
     * Makes it.
     *
     * @param parent the container, which admits it
     * @param old the node in whose place it will be; null for none
     */
    Node make(Container parent, Node old, NewNode made) throws CrailException;
  }

  /** A request that is being decided, perhaps several times. */
  private static final class Attempt {
    private final Operate.Request request;
    private final PathBytes path;
    private final Maker maker;
    private final LongConsumer committed;
    private final boolean links;
    // Whether a node may be made, so that its container has to admit it before.
    private boolean makes;

    Attempt(
        Operate.Request request, PathBytes path, long kinds, Maker maker, LongConsumer committed) {
      this.request = request;
      this.path = path;
      this.maker = maker;
      this.committed = committed;
      this.links = (kinds & bit(StepKind.LINK)) != 0;
      this.makes = (kinds & bit(StepKind.CREATE)) != 0;
    }
  }

  /**
   * Performs the steps of a request.
   *
   * @param maker makes the node of a step that creates it; null when nothing may change
   * @param committed gets the number of bytes that have become visible
   */
  public Operate.Response operate(Operate.Request request, Maker maker, LongConsumer committed)
      throws CrailException {
    PathBytes path = PathBytes.of(request.path());
    tree.requireOwn(path);
    long kinds = check(request, path, maker != null);
    Attempt attempt = new Attempt(request, path, kinds, maker, committed);
    Operate.Response response = null;
    while (response == null) {
      Tree.Place place = tree.locate(path);
      Node node = place.child();
      if (node == null || attempt.makes && Tree.isWithBytes(node)) {
        Container parent = node == null ? tree.parentOf(path) : place.container();
        response = locks.of(parent, () -> decideIn(parent, attempt));
      } else {
        response =
            locks.ofChild(
                place.container(),
                node,
                () -> tree.isStill(node, place.container(), path),
                () -> decide(place.container(), node, attempt));
      }
    }
    if (response.failed() != Operate.NONE_FAILED) {
      failures[response.results().get(response.failed()).code()].increment();
    }
    return response;
  }

  /** How many lists were not done so far, since a step failed with an error. */
  public long failures(ErrorCode code) {
    return failures[code.number()].sum();
  }

  private static long bit(StepKind kind) {
    return 1L << kind.number();
  }

  /** Checks a list, and returns a bit for each kind of its steps: it is looked through once. */
  private static long check(Operate.Request request, PathBytes path, boolean mayChange)
      throws CrailException {
    if (path.isRoot()) {
      throw ErrorCode.ROOT.exception("/");
    }
    NewNode.requirePermissions(path, request.permissions());
    int count = request.steps().size();
    if (count == 0 || count > Operate.MAX_STEPS) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          path + ": " + count + " steps, must be 1 to " + Operate.MAX_STEPS);
    }
    long kinds = 0;
    for (CompoundStep step : request.steps()) {
      StepKind kind = StepKind.of(step.kind());
      if (kind.isChange() && !mayChange) {
        throw ErrorCode.INVALID_ARGUMENT.exception(path + ": a list that only reads");
      }
      kinds |= bit(kind);
    }
    if ((kinds & bit(StepKind.LINK)) != 0) {
      StagedNode.requireOne(request.steps());
    }
    return kinds;
  }

  /**
   * Where there may be no node, or another one later. Under the parent's lock; null when there is
   * something else by now. What may wait for renames comes before the lock of the node.
   */
  private Operate.Response decideIn(Container parent, Attempt attempt) throws CrailException {
    PathBytes path = attempt.path;
    if (attempt.makes ? !tree.admits(parent, path) : tree.isDetached(parent)) {
      return null;
    }
    if (attempt.makes) {
      tree.requireOpen(parent);
    }
    Node child = tree.child(parent, path);
    if (child == null) {
      return decide(parent, null, attempt);
    }
    // A container has its place in the order of locks, and is found in the next round.
    return Tree.isWithBytes(child) ? locks.of(child, () -> decide(parent, child, attempt)) : null;
  }

  /**
   * Under the locks of the parent and of the node, which may be null. Returns null when it has to
   * be decided again, since a method makes a node.
   */
  private Operate.Response decide(Container parent, Node found, Attempt attempt)
      throws CrailException {
    StagedNode staged =
        attempt.links
            ? StagedNode.of(attempt.request.steps(), state, datanodes, parent, found, attempt.path)
            : StagedNode.NONE;
    return staged.node() == null
        ? decide(parent, found, staged, attempt)
        : locks.of(staged.node(), () -> decide(parent, found, staged, attempt));
  }

  private Operate.Response decide(Container parent, Node found, StagedNode staged, Attempt attempt)
      throws CrailException {
    PathBytes path = attempt.path;
    // A key whose first value has not come does not exist.
    Node node = found != null && (!Tree.isWithBytes(found) || found.hasValue()) ? found : null;
    long now = clock.currentTimeMillis();
    NodeExtras extras = node == null ? NodeExtras.NONE : tree.extras().of(node);
    if (extras.idleMillis() > 0) {
      tree.extras().accessed(node, extras, now);
    }
    NodeExtras born = attempt.makes ? tree.extras().of(parent).ofChild(now) : null;
    CompoundRun run =
        new CompoundRun(
            node == null ? 0 : node.id(),
            node instanceof Container,
            born == null ? NodeExtras.NONE : born,
            extras,
            bytesOf(node, path),
            classes,
            now);
    run.limits(LimitSteps.of(node, tree.pending()));
    run.staged(staged);
    run.perform(attempt.request.steps());
    if (!run.isToBeApplied()) {
      return run.response(node == null ? 0 : node.id(), node == null ? 0 : node.size(), extras);
    }
    if (run.isNew()) {
      if (node != null) {
        requireBytes(node, path);
      }
      if (!attempt.makes) {
        attempt.makes = true;
        return null;
      }
      if (run.bytes().link() != KeptBytes.Link.NONE) {
        return linked(parent, found, staged, attributesOf(staged, attempt), run, attempt);
      }
      NewNode request = NewNode.operated(putOf(attempt.request, run), run.extras());
      Node made = attempt.maker.make(parent, found, request);
      attempt.committed.accept(made.size());
      return run.response(made.id(), made.size(), run.extras());
    }
    if (!run.exists()) {
      if (node != null) {
        requireBytes(node, path);
        applier.remove(node, clock.currentTimeMillis());
      }
      return run.response(0, 0, NodeExtras.NONE);
    }
    if (run.bytes().link() == KeptBytes.Link.WHOLE) {
      return linked(parent, node, staged, node.attributes(), run, attempt);
    }
    long size = node.size();
    apply(node, staged, run, extras, path);
    attempt.committed.accept(Math.max(0, node.size() - size));
    return run.response(node.id(), node.size(), run.extras());
  }

  private KeptBytes bytesOf(Node node, PathBytes path) {
    int most = state.values().maxLength();
    NodeSpace space = node == null ? null : node.space();
    SmallBytes small = space == null ? null : space.small();
    long elsewhere = small == null && space != null ? space.size() : 0;
    CrailException obstacle = null;
    if (node != null && node.type() != NodeType.KEYVALUE) {
      obstacle = ErrorCode.WRONG_TYPE.exception(path + " is no key-value");
    } else if (node != null && node.lease() != null) {
      obstacle = ErrorCode.WRITE_LEASE_HELD.exception(path.toString());
    }
    return new KeptBytes(small, elsewhere, most, obstacle);
  }

  private static void requireBytes(Node node, PathBytes path) throws CrailException {
    if (!Tree.isWithBytes(node)) {
      throw ErrorCode.WRONG_TYPE.exception(path + " is a container");
    }
  }

  private static Put.Request putOf(Operate.Request request, CompoundRun run) {
    SmallValue value = SmallValue.of(run.bytes().all());
    return new Put.Request(
        true,
        false,
        request.permissions(),
        Create.PARENT_CLASS,
        0,
        value.length(),
        request.path(),
        Create.PARENT_HOST,
        value);
  }

  /** Those of a key that staged bytes make: the owner has staged them. */
  private static long attributesOf(StagedNode staged, Attempt attempt) {
    Node node = staged.node();
    return Node.attributes(attempt.request.permissions(), node.owner(), node.group());
  }

  /**
   * Lets the node of staged bytes be found by its name.
   *
   * @param old the node in whose place it is; null for none
   * @param attributes those of the key
   */
  private Operate.Response linked(
      Container parent,
      Node old,
      StagedNode staged,
      long attributes,
      CompoundRun run,
      Attempt attempt)
      throws CrailException {
    NodeExtras extras = run.extras();
    long heap = extras.footprint();
    long freed = old == null ? 0 : old.footprint() + tree.extras().footprint(old);
    state.budget().require(heap, freed, attempt.path);
    if (old == null) {
      try {
        // Its bytes were taken when they were staged.
        QuotaCharge.of(parent.quota(), null).requireName(attempt.path);
      } catch (CrailException e) {
        state.budget().give(heap);
        throw e;
      }
    }
    // A node that has them is locked, so they stay held.
    state.users().hold(Node.owner(attributes));
    state.users().hold(Node.group(attributes));
    long length = run.bytes().linked();
    Node made = staged.node();
    applier.linkStaged(
        made,
        length,
        staged.kept(length),
        attributes,
        extras,
        attempt.path,
        old,
        clock.currentTimeMillis());
    attempt.committed.accept(length);
    return run.response(made.id(), length, extras);
  }

  private void apply(
      Node node, StagedNode staged, CompoundRun run, NodeExtras before, PathBytes path)
      throws CrailException {
    NodeExtras extras = run.extras();
    long heap = extras.footprint();
    state.budget().require(heap, node.hasExtras() ? before.footprint() : 0, path);
    if (run.bytes().link() == KeptBytes.Link.BEHIND) {
      long length = run.bytes().linked();
      NodeSpace kept = staged.kept(length);
      applier.append(node, staged.node(), length, kept, extras, clock.currentTimeMillis());
      return;
    }
    NodeSpace space = node.space();
    SmallBytes former = space == null ? null : space.small();
    SmallBytes value = null;
    int unchanged = Applier.ALL_BYTES;
    QuotaCharge charge = QuotaCharge.of(Container.quotaOf(node), space);
    try {
      KeptBytes bytes = run.bytes();
      if (bytes.haveChanged()) {
        charge.requireBytes(bytes.size(), path);
      }
      if (run.limits().haveChanged()) {
        limit((Container) node, run.limits().decided(), extras, path);
        return;
      }
      if (bytes.areLonger()) {
        unchanged = former.length();
        value = state.values().extended(former, bytes.added());
        requireTaken(value, (int) bytes.size(), path);
      } else if (bytes.haveChanged()) {
        unchanged = 0;
        value = taken(bytes.all(), former, path);
      }
    } catch (CrailException e) {
      charge.undo();
      state.budget().give(heap);
      throw e;
    }
    applier.operate(node, value, unchanged, extras, clock.currentTimeMillis());
  }

  private void limit(Container container, Quota.Limits limits, NodeExtras extras, PathBytes path)
      throws CrailException {
    if (!container.hasOwnQuota()) {
      state.budget().require(Quota.FOOTPRINT, 0, path);
    }
    applier.limit(container, limits, extras);
  }

  private SmallBytes taken(byte[] bytes, SmallBytes former, Object path) throws CrailException {
    if (bytes.length == 0) {
      return null;
    }
    SmallBytes value = state.values().of(bytes.length);
    boolean isTaken = value != null && state.values().take(value, former);
    requireTaken(isTaken ? value : null, bytes.length, path);
    value.write(ByteBuffer.wrap(bytes), 0);
    return value;
  }

  private void requireTaken(SmallBytes value, int length, Object path) throws CrailException {
    if (value == null) {
      throw state.values().refusal(path, length);
    }
  }
}
