/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.Lifetime;
import io.crail.compound.StepKind;
import io.crail.protocol.part.CompoundStep;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * A list of steps on a key, drawn at random, and what has to come of it. If it is performed late,
 * when the key is gone with its namenode or its table, it makes what it would have made before, or
 * nothing. So a list with an unknown outcome leaves one of two contents, or none. Immutable.
 */
public final class DrawnList {
  private static final int MOST_STEPS = 6;
  private static final int MOST_BYTES = 5000;
  private static final int MOST_NUMBER = 3;

  /** A unit of zeros would be bytes of no writer. */
  private static final int MOST_ZEROS = Units.LENGTH - 1;

  private static final int LEAST_LIFE_MILLIS = 200;

  private static final Comparison[] COMPARISONS = Comparison.values();

  private final List<CompoundStep> steps;
  private final CompoundOperation operation;
  private final Content before;
  private final long drawnMillis;
  private final ListModel model;

  private DrawnList(
      CompoundOperation operation, Content before, long drawnMillis, ListModel model) {
    this.operation = operation;
    this.steps = operation.steps();
    this.before = before;
    this.drawnMillis = drawnMillis;
    this.model = model;
  }

  /**
   * Draws a list.
   *
   * @param before the content of the key, of which all is known
   * @param operation the id of the bytes that it writes, and of the file that it makes
   * @param nowMillis the time, in milliseconds since 1970
   */
  public static DrawnList draw(Content before, long operation, Random random, long nowMillis)
      throws CrailException {
    while (true) {
      ListModel model = new ListModel(before, operation, nowMillis);
      CompoundOperation.Builder builder = CompoundOperation.builder();
      boolean goesOn = true;
      for (int left = 1 + random.nextInt(MOST_STEPS); left > 0 && goesOn; left--) {
        drawStep(builder, model.now(), operation, random);
        if (random.nextInt(3) == 0) {
          builder.orGoOn();
        }
        List<CompoundStep> steps = builder.build().steps();
        goesOn = model.perform(steps.get(steps.size() - 1));
      }
      CompoundOperation list = builder.build();
      ListModel late = new ListModel(Content.ABSENT, operation, nowMillis);
      for (int i = 0; i < list.steps().size() && late.failedStep() < 0; i++) {
        late.perform(list.steps().get(i));
      }
      if (!late.after().isPresent() || late.after().equals(model.after())) {
        return new DrawnList(list, before, nowMillis, model);
      }
    }
  }

  private static void drawStep(
      CompoundOperation.Builder list, Content now, long operation, Random random) {
    if (!now.isPresent()) {
      switch (random.nextInt(6)) {
        case 0 -> list.requireAbsent();
        case 1 -> list.requireExists();
        case 2 -> list.readSize();
        default -> list.create();
      }
      return;
    }
    switch (random.nextInt(11)) {
      case 0, 1, 2 -> drawGuard(list, now, random);
      case 3, 4, 5, 6 -> drawBytes(list, now, operation, random);
      case 7, 8 -> drawMarks(list, now.marks(), random);
      case 9 -> drawRead(list, now, random);
      default -> {
        switch (random.nextInt(6)) {
          case 0 -> list.delete();
          case 1 -> list.expire(Lifetime.of(Duration.ofMillis(drawLife(random))));
          case 2 -> list.create();
          default -> list.raiseEpoch(now.marks().epoch() + random.nextInt(MOST_NUMBER));
        }
      }
    }
  }

  private static long drawLife(Random random) {
    return LEAST_LIFE_MILLIS
        + random.nextInt((int) Marks.LONGEST_LIFE_MILLIS - LEAST_LIFE_MILLIS + 1);
  }

  private static String drawName(Random random) {
    return Marks.NAMES.get(random.nextInt(Marks.NAMES.size()));
  }

  private static void drawGuard(CompoundOperation.Builder list, Content now, Random random) {
    Marks marks = now.marks();
    String name = drawName(random);
    long attribute = marks.attribute(name) == Marks.NONE ? 0 : marks.attribute(name);
    long other = random.nextInt(MOST_NUMBER) - 1;
    boolean holds = random.nextInt(6) > 0;
    switch (random.nextInt(9)) {
      case 0 -> {
        if (holds) {
          list.requireExists();
        } else {
          list.requireAbsent();
        }
      }
      case 1 -> list.requireVersion(draw(random, -other, holds), marks.version() + other);
      case 2 -> list.requireEpoch(draw(random, -other, holds), marks.epoch() + other);
      case 3 -> list.requireSize(draw(random, -other, holds), now.length() + other);
      case 4, 5 -> {
        if (holds == (marks.attribute(name) == Marks.NONE)) {
          list.requireNoAttribute(name);
        } else {
          list.requireAttribute(name);
        }
      }
      case 6 -> list.requireNumber(name, draw(random, -other, holds), attribute + other);
      case 7 ->
          list.requireAttribute(name, COMPARISONS[random.nextInt(2)], ListModel.text(attribute));
      default -> {
        int from = random.nextInt((int) now.length() + 1);
        byte[] bytes = now.bytes(from, 1 + random.nextInt(MOST_BYTES)).array();
        if (bytes.length > 0 && !holds) {
          bytes[bytes.length - 1]++;
        }
        list.requireBytes(from, Comparison.EQUAL, bytes);
      }
    }
  }

  /** A comparison that holds, or not, for numbers in that order. */
  private static Comparison draw(Random random, long order, boolean holds) {
    while (true) {
      Comparison drawn = COMPARISONS[random.nextInt(COMPARISONS.length)];
      if (drawn.holds(Long.signum(order)) == holds) {
        return drawn;
      }
    }
  }

  private static void drawBytes(
      CompoundOperation.Builder list, Content now, long operation, Random random) {
    // A write in the middle makes two parts of one, and there may be zeros before it.
    boolean isFull = now.parts().size() > Content.MAX_PARTS - 2;
    int length = (int) now.length();
    switch (isFull ? 5 + random.nextInt(2) : random.nextInt(7)) {
      case 0, 1, 2 -> list.append(drawn(now, operation, length, random));
      case 3 -> {
        int position = random.nextInt(length + MOST_ZEROS + 1);
        list.write(position, drawn(now, operation, position, random));
      }
      case 4 -> list.truncate(length + random.nextInt(MOST_ZEROS + 1));
      case 5 -> list.writeFull(drawn(now, operation, 0, random));
      default -> list.truncate(random.nextInt(isFull ? 1 : length + 1));
    }
  }

  private static byte[] drawn(Content now, long operation, long position, Random random) {
    byte[] bytes = new byte[1 + random.nextInt(random.nextInt(4) == 0 ? MOST_BYTES : 200)];
    Units.fill(ByteBuffer.wrap(bytes), now.file(), operation, position);
    return bytes;
  }

  private static void drawMarks(CompoundOperation.Builder list, Marks marks, Random random) {
    String name = drawName(random);
    long present = marks.attribute(name) == Marks.NONE ? 0 : marks.attribute(name);
    byte[] next = ListModel.text(random.nextInt(MOST_NUMBER * MOST_NUMBER));
    switch (random.nextInt(6)) {
      case 0 -> list.setAttribute(name, next);
      case 1 -> list.removeAttribute(name);
      case 2 -> list.replaceAttribute(name, ListModel.text(present), next);
      default -> list.add(name, random.nextInt(MOST_NUMBER));
    }
  }

  private static void drawRead(CompoundOperation.Builder list, Content now, Random random) {
    switch (random.nextInt(4)) {
      case 0 -> list.readSize();
      case 1 -> list.readAttribute(drawName(random));
      case 2 -> list.readAttributes();
      default -> list.read(random.nextInt((int) now.length() + 1), random.nextInt(MOST_BYTES) + 1);
    }
  }

  /** The list. */
  public CompoundOperation operation() {
    return operation;
  }

  /** True when it changes something, if it is performed. */
  public boolean changes() {
    return model.changes();
  }

  /** The content afterwards, while it is unknown when the list was performed. */
  public Content after() {
    return model.after();
  }

  /**
   * The content afterwards.
   *
   * @param nowMillis a time by which it has been performed
   */
  public Content done(long nowMillis) {
    Content after = model.after();
    Marks marks = after.marks();
    return marks.endMillis() == 0
        ? after
        : after.with(marks.withEnd(marks.endMillis(), marks.endMillis() - drawnMillis + nowMillis));
  }

  /** Compares a result with what has to come. Returns null when it is right, or else words. */
  public String mismatch(CompoundResult result) {
    List<ListModel.Expected> expected = model.expected();
    if (result.failedStep() != model.failedStep() || result.count() != expected.size()) {
      return "step " + result.failedStep() + " failed, not " + model.failedStep();
    }
    for (int i = 0; i < expected.size(); i++) {
      String wrong = mismatch(expected.get(i), result, i);
      if (wrong != null) {
        return "step " + i + " gave " + wrong;
      }
    }
    Content after = model.after();
    Marks marks = after.marks();
    boolean isRight =
        result.exists() == after.isPresent()
            && result.size() == after.length()
            && result.version() == marks.version()
            && result.epoch() == marks.epoch();
    return isRight
        ? null
        : String.format(
            Locale.ROOT,
            "left %d bytes, version %d, epoch %d",
            result.size(),
            result.version(),
            result.epoch());
  }

  private static String mismatch(ListModel.Expected expected, CompoundResult result, int step) {
    // A put of bytes to datanodes may have left its lease.
    boolean isElsewhere =
        expected.code() == ErrorCode.NOT_KEPT && result.code(step) == ErrorCode.WRITE_LEASE_HELD;
    if (result.code(step) != expected.code() && !isElsewhere) {
      return result.code(step) + ", not " + expected.code();
    }
    if (result.number(step) != expected.number()) {
      return result.number(step) + ", not " + expected.number();
    }
    if (expected.attributes() != null) {
      Map<String, String> found = new LinkedHashMap<>();
      result
          .attributes(step)
          .forEach((name, value) -> found.put(name, new String(value, StandardCharsets.US_ASCII)));
      return found.equals(expected.attributes()) ? null : found + ", not " + expected.attributes();
    }
    int wrong = Arrays.mismatch(result.bytes(step), expected.bytes());
    return wrong < 0
        ? null
        : String.format(
            Locale.ROOT,
            "%d bytes, not %d; at %d: %s",
            result.bytes(step).length,
            expected.bytes().length,
            wrong,
            Units.describe(ByteBuffer.wrap(result.bytes(step)), wrong));
  }

  /** The list, what it was drawn for, and what has to come of it. */
  @Override
  public String toString() {
    return steps.stream().map(DrawnList::text).toList() + " on " + before + " to " + model.after();
  }

  private static String text(CompoundStep step) {
    StringBuilder text = new StringBuilder();
    try {
      text.append(StepKind.of(step.kind()));
      text.append(' ').append(Comparison.of(step.comparison()));
    } catch (CrailException e) {
      throw new IllegalArgumentException(e);
    }
    text.append(' ').append(step.number()).append(' ').append(step.name());
    text.append(", ").append(step.data().length()).append(" bytes");
    return text.append(step.goesOn() ? ", or goes on" : "").toString();
  }
}
