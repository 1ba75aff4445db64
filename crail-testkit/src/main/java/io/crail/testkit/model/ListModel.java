/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.StepKind;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.CompoundStep;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What has to come of the steps of a list, by what docs/compound.md says, and by a content of which
 * all is known. The bytes that a step writes are those of one operation. For one thread.
 */
final class ListModel {
  private static final int MOST_BYTES = SmallValue.MAX_LENGTH;

  private final Content before;
  private final long operation;
  private final long nowMillis;
  private final List<Expected> expected = new ArrayList<>();
  private Content now;
  private boolean hasChanged;
  private int failedStep = -1;

  // What the present step gives.
  private long number;
  private byte[] bytes;
  private Map<String, String> attributes;

  /** The outcome of a step. Without {@code attributes} it reads none. */
  record Expected(ErrorCode code, long number, byte[] bytes, Map<String, String> attributes) {}

  ListModel(Content before, long operation, long nowMillis) {
    this.before = before;
    this.operation = operation;
    this.nowMillis = nowMillis;
    this.now = before;
  }

  /** What the next step finds. */
  Content now() {
    return now;
  }

  List<Expected> expected() {
    return expected;
  }

  int failedStep() {
    return failedStep;
  }

  /** The content afterwards. */
  Content after() {
    if (!changes()) {
      return before;
    }
    return now.isPresent() ? now.with(now.marks().withVersion(now.marks().version() + 1)) : now;
  }

  boolean changes() {
    return failedStep < 0 && hasChanged;
  }

  /** Performs a step. Returns whether the list goes on. */
  boolean perform(CompoundStep step) throws CrailException {
    number = 0;
    bytes = new byte[0];
    attributes = null;
    StepKind kind = StepKind.of(step.kind());
    ErrorCode code = outcome(kind, step);
    if (code == ErrorCode.OK) {
      hasChanged |= kind.isChange();
      expected.add(new Expected(code, number, bytes, attributes));
    } else {
      expected.add(new Expected(code, 0, new byte[0], null));
      failedStep = step.goesOn() ? -1 : expected.size() - 1;
    }
    return failedStep < 0;
  }

  private static ErrorCode require(boolean holds) {
    return holds ? ErrorCode.OK : ErrorCode.CONDITION_FAILED;
  }

  private static ErrorCode require(CompoundStep step, int order) throws CrailException {
    return require(Comparison.of(step.comparison()).holds(order));
  }

  private ErrorCode outcome(StepKind kind, CompoundStep step) throws CrailException {
    switch (kind) {
      case ABSENT:
        return require(!now.isPresent());
      case CREATE:
        if (now.isPresent()) {
          return ErrorCode.NODE_EXISTS;
        }
        now = Content.empty(operation);
        return ErrorCode.OK;
      default:
        if (!now.isPresent()) {
          return ErrorCode.NODE_NOT_FOUND;
        }
        return kind.isChange() ? change(kind, step) : look(kind, step);
    }
  }

  private ErrorCode look(StepKind kind, CompoundStep step) throws CrailException {
    Marks marks = now.marks();
    long attribute = marks.attribute(step.name().toString());
    boolean isMissing = attribute == Marks.NONE;
    switch (kind) {
      case EXISTS:
        return ErrorCode.OK;
      case VERSION:
        return require(step, Long.compare(marks.version(), step.number()));
      case EPOCH:
        return require(step, Long.compare(marks.epoch(), step.number()));
      case SIZE:
        return require(step, Long.compare(now.length(), step.number()));
      case HAS_ATTRIBUTE:
        return require(!isMissing);
      case LACKS_ATTRIBUTE:
        return require(isMissing);
      case ATTRIBUTE:
        return isMissing
            ? ErrorCode.CONDITION_FAILED
            : require(step, Arrays.compareUnsigned(text(attribute), step.data().bytes()));
      case ATTRIBUTE_NUMBER:
        return isMissing
            ? ErrorCode.CONDITION_FAILED
            : require(step, Long.compare(attribute, step.number()));
      case BYTES:
        byte[] data = step.data().bytes();
        return isKept()
            ? require(step, Arrays.compareUnsigned(range(step.number(), data.length), data))
            : ErrorCode.NOT_KEPT;
      case READ_SIZE:
        number = now.length();
        return ErrorCode.OK;
      case READ_ATTRIBUTE:
        bytes = isMissing ? bytes : text(attribute);
        return require(!isMissing);
      case READ_ATTRIBUTES:
        attributes = new LinkedHashMap<>();
        for (String name : Marks.NAMES) {
          if (marks.attribute(name) != Marks.NONE) {
            attributes.put(name, Long.toString(marks.attribute(name)));
          }
        }
        number = attributes.size();
        return ErrorCode.OK;
      case READ_BYTES:
        bytes = isKept() ? range(step.number(), step.length()) : bytes;
        return isKept() ? ErrorCode.OK : ErrorCode.NOT_KEPT;
      default:
        throw new AssertionError(kind);
    }
  }

  private ErrorCode change(StepKind kind, CompoundStep step) {
    Marks marks = now.marks();
    String name = step.name().toString();
    long attribute = marks.attribute(name);
    switch (kind) {
      case APPEND:
        ErrorCode code = write(now.length(), step.data().length());
        number = now.length();
        return code;
      case WRITE:
        return write(step.number(), step.data().length());
      case WRITE_FULL:
        if (!isKept()) {
          return ErrorCode.NOT_KEPT;
        }
        now = now.cut(0).append(operation, step.data().length());
        return ErrorCode.OK;
      case TRUNCATE:
        if (!isKept() || step.number() > MOST_BYTES) {
          return ErrorCode.NOT_KEPT;
        }
        now = now.resize(step.number());
        return ErrorCode.OK;
      case SET_ATTRIBUTE:
        now = now.with(marks.with(name, number(step.data())));
        return ErrorCode.OK;
      case ADD:
        number = (attribute == Marks.NONE ? 0 : attribute) + step.number();
        now = now.with(marks.with(name, number));
        return ErrorCode.OK;
      case REMOVE_ATTRIBUTE:
        now = now.with(marks.with(name, Marks.NONE));
        return ErrorCode.OK;
      case REPLACE_ATTRIBUTE:
        if (attribute == Marks.NONE || attribute != number(step.expected())) {
          return ErrorCode.CONDITION_FAILED;
        }
        now = now.with(marks.with(name, number(step.data())));
        return ErrorCode.OK;
      case RAISE_EPOCH:
        if (step.number() <= marks.epoch()) {
          return ErrorCode.CONDITION_FAILED;
        }
        now = now.with(marks.withEpoch(step.number()));
        return ErrorCode.OK;
      case EXPIRE:
        now = now.with(marks.withEnd(nowMillis + step.number(), 0));
        return ErrorCode.OK;
      case DELETE:
        now = Content.ABSENT;
        return ErrorCode.OK;
      default:
        throw new AssertionError(kind);
    }
  }

  /** False for bytes at datanodes. */
  private boolean isKept() {
    return now.length() <= MOST_BYTES;
  }

  private ErrorCode write(long position, long length) {
    if (!isKept() || position + length > MOST_BYTES) {
      return ErrorCode.NOT_KEPT;
    }
    now = now.write(operation, position, length);
    return ErrorCode.OK;
  }

  private byte[] range(long from, long length) {
    return now.bytes(from, length).array();
  }

  static byte[] text(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  private static long number(SmallValue text) {
    return Long.parseLong(new String(text.bytes(), StandardCharsets.US_ASCII));
  }
}
