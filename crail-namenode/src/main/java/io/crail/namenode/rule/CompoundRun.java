/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import io.crail.compound.StepKind;
import io.crail.namenode.classes.NodeClasses;
import io.crail.namenode.tree.NodeExtras;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.Step;
import io.crail.protocol.part.StepResult;
import io.crail.protocol.part.UserAttribute;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Performs the steps of a compound operation on a copy of what a node has: each step sees what
 * those before it have done. What comes out is applied by the {@link CompoundRule}, or not at all.
 * A function of the node and the steps, without a clock or other state. For one thread.
 */
final class CompoundRun {
  private final NodeClasses classes;
  private KeptBytes bytes;
  private final List<StepResult> results = new ArrayList<>();
  private long id;
  private boolean exists;
  private boolean isNew;
  private NodeExtras extras;
  private NodeExtras before;
  private int resultBytes;
  private boolean hasChanged;
  private int failed = Operate.NONE_FAILED;
  private String reason;

  // What the present step gave.
  private long number;
  private SmallValue data;

  /**
   * Begins with what is there.
   *
   * @param id the node's id; 0 for no node
   * @param bytes the node's bytes; of length 0 for no node
   */
  CompoundRun(long id, NodeExtras extras, KeptBytes bytes, NodeClasses classes) {
    this.classes = classes;
    this.id = id;
    this.exists = id != 0;
    this.extras = extras;
    this.before = extras;
    this.bytes = bytes;
  }

  /** Performs the steps, up to the first that fails and after which the list does not go on. */
  void perform(List<Step> steps) {
    for (int i = 0; i < steps.size() && failed == Operate.NONE_FAILED; i++) {
      Step step = steps.get(i);
      number = 0;
      data = SmallValue.NONE;
      int code = ErrorCode.OK.number();
      // What has failed does nothing, and some steps may fail half-way.
      CompoundRun before = step.goesOn() && step.kind() != StepKind.CREATE.number() ? copy() : null;
      try {
        perform(step, StepKind.of(step.kind()));
        requireRoom();
      } catch (CrailException e) {
        if (before != null) {
          restore(before);
        }
        code = e.code().number();
        number = 0;
        data = SmallValue.NONE;
        if (!step.goesOn()) {
          failed = i;
          reason = e.detail();
        }
      }
      StepResult result = new StepResult(code, number, data);
      resultBytes += StepResult.CODEC.length(result);
      results.add(result);
    }
  }

  private CompoundRun copy() {
    CompoundRun copy = new CompoundRun(id, extras, bytes.copy(), classes);
    copy.exists = exists;
    copy.isNew = isNew;
    copy.before = before;
    copy.hasChanged = hasChanged;
    return copy;
  }

  private void restore(CompoundRun copy) {
    bytes = copy.bytes;
    id = copy.id;
    exists = copy.exists;
    isNew = copy.isNew;
    extras = copy.extras;
    before = copy.before;
    hasChanged = copy.hasChanged;
  }

  /** The results of all steps have to fit into one answer. */
  private void requireRoom() throws CrailException {
    int each = StepResult.LAYOUT.fixedLength();
    if (resultBytes + each + data.length() > Operate.MAX_BYTES - each * Operate.MAX_STEPS) {
      throw ErrorCode.LIMIT_EXCEEDED.exception("the results are longer than an answer");
    }
  }

  private void perform(Step step, StepKind kind) throws CrailException {
    switch (kind) {
      case EXISTS -> requireNode();
      case ABSENT -> require(!exists);
      case CREATE -> create();
      case CALL -> call(step);
      default -> {
        requireNode();
        if (kind.isChange()) {
          change(step, kind);
        } else if (kind.number() < StepKind.CREATE.number()) {
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

  private void guard(Step step, StepKind kind) throws CrailException {
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
          require(step, Long.compare(numberOf(requireAttribute(step)), step.number()));
      case BYTES -> {
        SmallValue present = bytes.read(step.number(), step.data().length());
        require(step, Arrays.compareUnsigned(present.bytes(), step.data().bytes()));
      }
      default -> throw new AssertionError(kind);
    }
  }

  private static void require(Step step, int order) throws CrailException {
    require(Comparison.of(step.comparison()).holds(order));
  }

  /** A missing attribute is neither equal nor different. */
  private SmallValue requireAttribute(Step step) throws CrailException {
    SmallValue value = extras.attribute(step.name());
    require(value != null);
    return value;
  }

  /** The number that is written in an attribute. */
  private static long numberOf(SmallValue value) throws CrailException {
    try {
      return Long.parseLong(new String(value.bytes(), StandardCharsets.US_ASCII));
    } catch (NumberFormatException e) {
      throw ErrorCode.INVALID_ARGUMENT.exception("the attribute is not a number");
    }
  }

  private void create() throws CrailException {
    if (exists) {
      throw ErrorCode.NODE_EXISTS.exception("");
    }
    exists = true;
    isNew = true;
    hasChanged = true;
    id = 0;
    extras = NodeExtras.NONE;
    before = NodeExtras.NONE;
    bytes.clear();
  }

  private void change(Step step, StepKind kind) throws CrailException {
    switch (kind) {
      case APPEND -> bytes.write(bytes.size(), step.data());
      case WRITE -> bytes.write(step.number(), step.data());
      case WRITE_FULL -> {
        bytes.truncate(0);
        bytes.write(0, step.data());
      }
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
      case DELETE -> {
        exists = false;
        isNew = false;
        id = 0;
      }
      default -> throw new AssertionError(kind);
    }
    hasChanged = true;
    if (kind == StepKind.APPEND) {
      number = bytes.size();
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

  private void call(Step step) throws CrailException {
    NodeClass.Decision decision = classes.call(step.name().toString(), new View(), step.data());
    for (Step decided : decision.steps().steps()) {
      StepKind kind = StepKind.of(decided.kind());
      if (kind == StepKind.CALL) {
        throw ErrorCode.UNSUPPORTED.exception(step.name() + " calls a class");
      }
      perform(decided, kind);
    }
    number = 0;
    data = SmallValue.of(decision.output());
  }

  private void add(Step step) throws CrailException {
    SmallValue present = extras.attribute(step.name());
    long sum;
    try {
      sum = Math.addExact(present == null ? 0 : numberOf(present), step.number());
    } catch (ArithmeticException e) {
      throw ErrorCode.OUT_OF_RANGE.exception("the sum is no 64-bit number");
    }
    set(step, SmallValue.of(Long.toString(sum).getBytes(StandardCharsets.US_ASCII)));
    number = sum;
  }

  private void set(Step step, SmallValue value) throws CrailException {
    if (step.name().length() == 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("an attribute without a name");
    }
    NodeExtras changed = extras.with(step.name(), value);
    if (changed.attributes().size() > UserAttribute.MAX_COUNT
        || UserAttribute.CODEC.lengthOfAll(changed.attributes()) > UserAttribute.MAX_BYTES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "at most "
              + UserAttribute.MAX_COUNT
              + " attributes and "
              + UserAttribute.MAX_BYTES
              + " bytes of them");
    }
    extras = changed;
  }

  private void read(Step step, StepKind kind) throws CrailException {
    switch (kind) {
      case READ_SIZE -> number = bytes.size();
      case READ_ATTRIBUTES -> {
        List<UserAttribute> attributes = extras.attributes();
        number = attributes.size();
        ByteBuffer all =
            ByteBuffer.allocate(UserAttribute.CODEC.lengthOfAll(attributes))
                .order(ByteOrder.LITTLE_ENDIAN);
        UserAttribute.CODEC.encodeAll(attributes, all, 0);
        data = SmallValue.of(all.array());
      }
      case READ_ATTRIBUTE -> data = requireAttribute(step);
      case READ_BYTES -> data = bytes.read(step.number(), step.length());
      default -> throw new AssertionError(kind);
    }
  }

  /** True when there is something to apply. */
  boolean isToBeApplied() {
    return hasChanged && failed == Operate.NONE_FAILED;
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
    return before.version() == extras.version() ? extras.changed() : extras;
  }

  /** Why the failed step failed; empty when its code says it. */
  String reason() {
    return reason;
  }

  /**
   * The answer.
   *
   * @param nodeId the node's id afterwards; 0 for none
   * @param size its bytes
   * @param present what it has
   */
  Operate.Response response(long nodeId, long size, NodeExtras present) {
    return new Operate.Response(failed, nodeId, size, present.version(), present.epoch(), results);
  }
}
