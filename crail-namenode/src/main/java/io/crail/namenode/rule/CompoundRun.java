/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.Lifetime;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import io.crail.compound.StepKind;
import io.crail.namenode.classes.NodeClasses;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.StepResult;
import io.crail.protocol.part.UserAttribute;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Performs the steps of a compound operation on a copy of what a node has: each step sees what
 * those before it have done. What comes out is applied by the {@link CompoundRule}, or not at all.
 * A function of the node and the steps, apart from what the methods of {@link NodeClasses} get. For
 * one thread.
 */
final class CompoundRun {
  /** Most calls of a list, since each may take a while and others wait for the lock. */
  private static final int MAX_CALLS = 8;

  private final NodeClasses classes;
  private final boolean isContainer;
  private final NodeExtras born;
  private final long nowMillis;
  private KeptBytes bytes;
  private final List<StepResult> results = new ArrayList<>();
  private long id;
  private boolean exists;
  private boolean isNew;
  private NodeExtras extras;
  private LimitSteps limits = LimitSteps.NONE;
  private StagedNode staged = StagedNode.NONE;
  private int dataBytes;
  private int calls;
  private boolean hasChanged;
  private boolean isSettled;
  private int failed = Operate.NONE_FAILED;
  private String reason = "";

  // What the present step gave.
  private long number;
  private SmallValue data;

  /**
   * Begins with what is there.
   *
   * @param id the node's id; 0 for no node
   * @param isContainer whether that is a container
   * @param born what a node has that is made now
   * @param bytes the node's bytes; of length 0 for no node
   * @param nowMillis the time, in milliseconds since 1970
   */
  CompoundRun(
      long id,
      boolean isContainer,
      NodeExtras born,
      NodeExtras extras,
      KeptBytes bytes,
      NodeClasses classes,
      long nowMillis) {
    this.classes = classes;
    this.isContainer = isContainer;
    this.born = born;
    this.nowMillis = nowMillis;
    this.id = id;
    this.exists = id != 0;
    this.extras = extras;
    this.bytes = bytes;
  }

  /** What the steps see of the quota of a container, and what they have decided about it. */
  LimitSteps limits() {
    return limits;
  }

  /** Sets what the steps see of the quota of a container. */
  void limits(LimitSteps seen) {
    limits = seen;
  }

  /** Sets the node that the steps may link. */
  void staged(StagedNode node) {
    staged = node;
  }

  /** Performs the steps, up to the first that fails and after which the list does not go on. */
  void perform(List<CompoundStep> steps) {
    for (int i = 0; i < steps.size() && failed == Operate.NONE_FAILED; i++) {
      CompoundStep step = steps.get(i);
      number = 0;
      data = SmallValue.NONE;
      int code = ErrorCode.OK.number();
      // What has failed does nothing. Only a call may fail half-way.
      boolean mayBeUndone = step.goesOn() && step.kind() == StepKind.CALL.number();
      CompoundRun saved = mayBeUndone ? copy() : null;
      try {
        perform(step, StepKind.of(step.kind()));
      } catch (CrailException e) {
        if (saved != null) {
          restore(saved);
        }
        code = e.code().number();
        number = 0;
        data = SmallValue.NONE;
        if (!step.goesOn()) {
          failed = i;
          reason = e.detail();
        }
      }
      dataBytes += data.length();
      boolean isPlain = code == 0 && number == 0 && data == SmallValue.NONE;
      results.add(isPlain ? StepResult.DONE : new StepResult(code, number, data));
    }
  }

  private CompoundRun copy() {
    CompoundRun copy =
        new CompoundRun(id, isContainer, born, extras, bytes.copy(), classes, nowMillis);
    copy.exists = exists;
    copy.isNew = isNew;
    copy.hasChanged = hasChanged;
    copy.isSettled = isSettled;
    copy.limits = limits;
    return copy;
  }

  private void restore(CompoundRun copy) {
    bytes = copy.bytes;
    id = copy.id;
    exists = copy.exists;
    isNew = copy.isNew;
    extras = copy.extras;
    hasChanged = copy.hasChanged;
    isSettled = copy.isSettled;
    limits = copy.limits;
  }

  /** The results of all steps have to fit into one answer; those without data always do. */
  private void requireRoom(long bytes) throws CrailException {
    int others = StepResult.LAYOUT.fixedLength() * Operate.MAX_STEPS;
    if (bytes > 0 && dataBytes + bytes > Operate.MAX_BYTES - others) {
      throw ErrorCode.LIMIT_EXCEEDED.exception("the results are longer than an answer");
    }
  }

  private void perform(CompoundStep step, StepKind kind) throws CrailException {
    switch (kind) {
      case EXISTS -> requireNode();
      case ABSENT -> require(!exists);
      case CREATE -> create();
      case CALL -> call(step);
      default -> {
        requireNode();
        if (kind.isChange()) {
          change(step, kind);
        } else if (kind.isGuard()) {
          guard(step, kind);
        } else {
          read(step, kind);
        }
      }
    }
  }

  private void requireNode() throws CrailException {
    if (!exists) {
      throw ErrorCode.NODE_NOT_FOUND.exception("");
    }
  }

  private static void require(boolean holds) throws CrailException {
    if (!holds) {
      throw ErrorCode.CONDITION_FAILED.exception("");
    }
  }

  private void guard(CompoundStep step, StepKind kind) throws CrailException {
    switch (kind) {
      case ID -> require(step, Long.compareUnsigned(id, step.number()));
      case VERSION -> require(step, Long.compare(extras.version(), step.number()));
      case EPOCH -> require(step, Long.compare(extras.epoch(), step.number()));
      case SIZE -> require(step, Long.compare(bytes.size(), step.number()));
      case HAS_ATTRIBUTE -> require(extras.attribute(step.name()) != null);
      case LACKS_ATTRIBUTE -> require(extras.attribute(step.name()) == null);
      case ATTRIBUTE -> {
        SmallValue present = requireAttribute(step);
        require(step, Arrays.compareUnsigned(present.bytes(), step.data().bytes()));
      }
      case ATTRIBUTE_NUMBER ->
          require(
              step, Long.compare(NodeExtras.number(requireAttribute(step).bytes()), step.number()));
      case BYTES -> {
        SmallValue present = bytes.read(step.number(), step.data().length());
        require(step, Arrays.compareUnsigned(present.bytes(), step.data().bytes()));
      }
      default -> throw new AssertionError(kind);
    }
  }

  private static void require(CompoundStep step, int order) throws CrailException {
    require(Comparison.of(step.comparison()).holds(order));
  }

  /** A missing attribute is neither equal nor different. */
  private SmallValue requireAttribute(CompoundStep step) throws CrailException {
    SmallValue value = extras.attribute(step.name());
    require(value != null);
    return value;
  }

  private void create() throws CrailException {
    if (exists) {
      throw ErrorCode.NODE_EXISTS.exception("");
    }
    exists = true;
    isNew = true;
    hasChanged = true;
    id = 0;
    extras = born;
    limits = LimitSteps.NONE;
    bytes.clear();
  }

  private void change(CompoundStep step, StepKind kind) throws CrailException {
    switch (kind) {
      case APPEND -> bytes.write(bytes.size(), step.data());
      case WRITE -> bytes.write(step.number(), step.data());
      case WRITE_FULL -> bytes.replace(step.data());
      case TRUNCATE -> bytes.truncate(step.number());
      case SET_ATTRIBUTE -> set(step, step.data());
      case ADD -> add(step);
      case REMOVE_ATTRIBUTE -> extras = extras.with(step.name(), null);
      case REPLACE_ATTRIBUTE -> {
        require(requireAttribute(step).equals(step.expected()));
        set(step, step.data());
      }
      case RAISE_EPOCH -> {
        require(step.number() > extras.epoch());
        extras = extras.withEpoch(step.number());
      }
      case EXPIRE -> extras = extras.withLifetime(lifetime(step), nowMillis);
      case EXPIRE_CHILDREN -> {
        if (!isContainer) {
          throw ErrorCode.WRONG_TYPE.exception("only a container has children");
        }
        extras = extras.withLifetimeOfChildren(lifetime(step));
      }
      case LIMIT -> limits = limits.limit(step);
      case LINK -> bytes.link(staged.require(step), step.length() == CompoundStep.LINK_BEHIND);
      case DELETE -> {
        exists = false;
        isNew = false;
        id = 0;
      }
      default -> throw new AssertionError(kind);
    }
    if (kind == StepKind.LINK && step.length() == CompoundStep.LINK_SAME) {
      isSettled = true;
    } else {
      hasChanged = true;
    }
    if (kind == StepKind.APPEND || kind == StepKind.LINK) {
      number = bytes.size();
    }
  }

  private static Lifetime lifetime(CompoundStep step) throws CrailException {
    try {
      return new Lifetime(step.number(), step.length() != 0);
    } catch (IllegalArgumentException e) {
      throw ErrorCode.INVALID_ARGUMENT.exception(e.getMessage());
    }
  }

  /** What the methods of classes see. */
  private final class View implements NodeView {
    @Override
    public boolean exists() {
      return exists;
    }

    @Override
    public long size() {
      return exists ? bytes.size() : 0;
    }

    @Override
    public long version() {
      return exists ? extras.version() : 0;
    }

    @Override
    public long epoch() {
      return exists ? extras.epoch() : 0;
    }

    @Override
    public byte[] attribute(String name) {
      SmallValue value = exists ? extras.attribute(Utf8.of(name)) : null;
      return value == null ? null : value.bytes().clone();
    }

    @Override
    public byte[] read(long position, int length) throws CrailException {
      return exists ? bytes.read(position, length).bytes().clone() : new byte[0];
    }
  }

  private void call(CompoundStep step) throws CrailException {
    if (++calls > MAX_CALLS) {
      throw ErrorCode.LIMIT_EXCEEDED.exception("more than " + MAX_CALLS + " calls in a list");
    }
    NodeClass.Decision decision = classes.call(step.name().toString(), new View(), step.data());
    requireRoom(decision.output().length);
    for (CompoundStep decided : decision.steps().steps()) {
      StepKind kind = StepKind.of(decided.kind());
      if (kind == StepKind.LIMIT) {
        limits.requireMethodMay();
      }
      perform(decided, kind);
    }
    number = 0;
    data = SmallValue.of(decision.output());
  }

  private void add(CompoundStep step) throws CrailException {
    SmallValue present = extras.attribute(step.name());
    long sum;
    try {
      sum = Math.addExact(present == null ? 0 : NodeExtras.number(present.bytes()), step.number());
    } catch (ArithmeticException e) {
      throw ErrorCode.OUT_OF_RANGE.exception("the sum is no 64-bit number");
    }
    set(step, SmallValue.of(NodeExtras.text(sum)));
    number = sum;
  }

  private void set(CompoundStep step, SmallValue value) throws CrailException {
    Utf8 name = step.name();
    if (name.length() == 0
        || name.length() > UserAttribute.MAX_NAME
        || !Utf8.of(name.toString()).equals(name)) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "the name of an attribute has to be UTF-8 of 1 to " + UserAttribute.MAX_NAME + " bytes");
    }
    NodeExtras changed = extras.with(step.name(), value);
    if (changed.attributes().size() > UserAttribute.MAX_COUNT
        || changed.attributeBytes() > UserAttribute.MAX_BYTES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "at most "
              + UserAttribute.MAX_COUNT
              + " attributes and "
              + UserAttribute.MAX_BYTES
              + " bytes of them");
    }
    extras = changed;
  }

  private void read(CompoundStep step, StepKind kind) throws CrailException {
    switch (kind) {
      case READ_SIZE -> number = bytes.size();
      case READ_ATTRIBUTES -> {
        List<UserAttribute> attributes = extras.attributes();
        number = attributes.size();
        requireRoom(extras.attributeBytes());
        ByteBuffer all =
            ByteBuffer.allocate(extras.attributeBytes()).order(ByteOrder.LITTLE_ENDIAN);
        UserAttribute.CODEC.encodeAll(attributes, all, 0);
        data = SmallValue.of(all.array());
      }
      case READ_ATTRIBUTE -> {
        SmallValue value = requireAttribute(step);
        requireRoom(value.length());
        data = value;
      }
      case READ_LIFETIME -> number = extras.remaining(nowMillis);
      case READ_CHILDREN_LIFETIME -> {
        Lifetime lifetime = extras.lifetimeOfChildren();
        number = lifetime.isLimited() ? lifetime.millis() : -1;
        data = lifetime.sinceAccess() ? SmallValue.of(new byte[] {1}) : SmallValue.NONE;
      }
      case READ_BYTES -> {
        requireRoom(Math.min(step.length(), bytes.size() - step.number()));
        data = bytes.read(step.number(), step.length());
      }
      case READ_USAGE -> {
        byte[] usage = limits.usage().toBytes();
        requireRoom(usage.length);
        data = SmallValue.of(usage);
      }
      default -> throw new AssertionError(kind);
    }
  }

  /** True when there is something to apply. */
  boolean isToBeApplied() {
    return (hasChanged || isSettled) && failed == Operate.NONE_FAILED;
  }

  /** True when there is a node afterwards. */
  boolean exists() {
    return exists;
  }

  /** True when that node is another one than before. */
  boolean isNew() {
    return isNew;
  }

  KeptBytes bytes() {
    return bytes;
  }

  /** What the node has afterwards. */
  NodeExtras extras() {
    return hasChanged ? extras.changed() : extras;
  }

  /**
   * The answer.
   *
   * @param nodeId the node's id afterwards; 0 for none
   * @param size its bytes
   * @param present what it has
   */
  Operate.Response response(long nodeId, long size, NodeExtras present) {
    return new Operate.Response(
        failed,
        nodeId,
        size,
        present.version(),
        present.epoch(),
        Utf8.of(reason.substring(0, Math.min(reason.length(), Operate.MAX_REASON / 4))),
        results);
  }
}
