/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.StagedBytes;
import io.crail.compound.StepKind;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.CompoundStep;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Steps of compound operations. */
public final class Steps {
  private static final StepKind[] KINDS = StepKind.values();

  private Steps() {}

  static SmallValue value(String text) {
    return SmallValue.of(text.getBytes(StandardCharsets.UTF_8));
  }

  public static CompoundStep of(StepKind kind) {
    return of(kind, Comparison.EQUAL, 0, 0, "", "", "");
  }

  static CompoundStep of(StepKind kind, long number) {
    return of(kind, Comparison.EQUAL, number, 0, "", "", "");
  }

  static CompoundStep of(StepKind kind, Comparison comparison, long number) {
    return of(kind, comparison, number, 0, "", "", "");
  }

  static CompoundStep of(
      StepKind kind,
      Comparison comparison,
      long number,
      int length,
      String name,
      String data,
      String expected) {
    return new CompoundStep(
        kind.number(),
        comparison.number(),
        false,
        number,
        length,
        Utf8.of(name),
        value(data),
        value(expected));
  }

  static CompoundStep create() {
    return of(StepKind.CREATE);
  }

  static CompoundStep append(String bytes) {
    return of(StepKind.APPEND, Comparison.EQUAL, 0, 0, "", bytes, "");
  }

  static CompoundStep write(long at, String bytes) {
    return of(StepKind.WRITE, Comparison.EQUAL, at, 0, "", bytes, "");
  }

  static CompoundStep writeFull(String bytes) {
    return of(StepKind.WRITE_FULL, Comparison.EQUAL, 0, 0, "", bytes, "");
  }

  static CompoundStep read(long at, int length) {
    return of(StepKind.READ_BYTES, Comparison.EQUAL, at, length, "", "", "");
  }

  static CompoundStep set(String name, String value) {
    return of(StepKind.SET_ATTRIBUTE, Comparison.EQUAL, 0, 0, name, value, "");
  }

  static CompoundStep add(String name, long number) {
    return of(StepKind.ADD, Comparison.EQUAL, number, 0, name, "", "");
  }

  /**
   * Links staged bytes.
   *
   * @param isBehind whether they are added at the end
   */
  public static CompoundStep link(long id, long token, long length, boolean isBehind) {
    StagedBytes staged =
        new StagedBytes() {
          @Override
          public long id() {
            return id;
          }

          @Override
          public long token() {
            return token;
          }

          @Override
          public long length() {
            return length;
          }

          @Override
          public void close() {}
        };
    CompoundOperation.Builder list = CompoundOperation.builder();
    return (isBehind ? list.append(staged) : list.writeFull(staged)).build().steps().get(0);
  }

  /** Links staged bytes that are the same. */
  static CompoundStep settle(long id, long token, long length) {
    CompoundStep link = link(id, token, length, false);
    return new CompoundStep(
        link.kind(),
        link.comparison(),
        false,
        id,
        CompoundStep.LINK_SAME,
        link.name(),
        link.data(),
        link.expected());
  }

  /** Limits of a directory; -1 for none. */
  public static CompoundStep limit(long bytes, long names) {
    return CompoundOperation.builder().limit(bytes, names).build().steps().get(0);
  }

  static CompoundStep attribute(StepKind kind, String name) {
    return of(kind, Comparison.EQUAL, 0, 0, name, "", "");
  }

  /** A list of which each step has a good chance not to fail. */
  public static List<CompoundStep> random(Random random) {
    List<CompoundStep> steps = new ArrayList<>();
    int count = 1 + random.nextInt(5);
    for (int i = 0; i < count; i++) {
      // Without it there would hardly be any node.
      StepKind kind =
          i == 0 && random.nextInt(3) == 0 ? StepKind.CREATE : KINDS[random.nextInt(KINDS.length)];
      if (kind == StepKind.DELETE && random.nextInt(3) > 0) {
        kind = StepKind.APPEND;
      }
      String data =
          random.nextInt(4) == 0
              ? String.valueOf(random.nextInt(5))
              : "x".repeat(random.nextInt(4) == 0 ? random.nextInt(12_000) : random.nextInt(40));
      CompoundStep step =
          of(
              kind,
              Comparison.values()[random.nextInt(6)],
              kind.name().startsWith("EXPIRE") ? 1000L * random.nextInt(6) : random.nextInt(6),
              random.nextInt(50),
              "name" + random.nextInt(3),
              data,
              String.valueOf(random.nextInt(5)));
      steps.add(random.nextInt(3) > 0 ? step.going() : step);
    }
    return steps;
  }
}
