/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The key-value that says what the log is: its shape, its views, and how many stripes may be
 * written. Its epoch is that of the present view. Thread-safe.
 */
final class LogHead {
  /** Views that are kept. */
  static final int MOST_VIEWS = 256;

  private static final String WIDTH = "width";
  private static final String SLOTS = "slots";
  private static final String MAX_ENTRY = "maxEntry";
  private static final String STRIPES = "stripes";
  private static final String VIEW = "view-";

  private final CrailStore store;
  private final String path;

  LogHead(CrailStore store, String log) {
    this.store = store;
    this.path = log + "/head";
  }

  /**
   * What the head says.
   *
   * @param epoch of the present view
   * @param stripes that may be written; those below were there in earlier epochs too
   */
  record State(long epoch, long stripes, LogShape shape, List<LogView> views) {}

  /** Makes the head, and with it the log, in its first epoch. */
  void create(LogShape shape, String by) throws Exception {
    CompoundOperation create =
        CompoundOperation.builder()
            .create()
            .raiseEpoch(1)
            .add(WIDTH, shape.width())
            .add(SLOTS, shape.slots())
            .add(MAX_ENTRY, shape.maxEntry())
            .add(STRIPES, 0)
            .setAttribute(VIEW + 1, by.getBytes(UTF_8))
            .build();
    store.operate(path, create).early().orThrow();
  }

  State read() throws Exception {
    CompoundOperation read = CompoundOperation.builder().readAttributes().build();
    CompoundResult result = store.operate(path, read).early().orThrow();
    Map<String, byte[]> all = result.attributes(0);
    List<LogView> views = new ArrayList<>();
    all.forEach(
        (name, value) -> {
          if (name.startsWith(VIEW)) {
            views.add(
                new LogView(
                    Long.parseLong(name.substring(VIEW.length())), new String(value, UTF_8)));
          }
        });
    views.sort(Comparator.comparingLong(LogView::epoch));
    LogShape shape =
        new LogShape(
            (int) number(all.get(WIDTH)),
            (int) number(all.get(SLOTS)),
            (int) number(all.get(MAX_ENTRY)));
    return new State(result.epoch(), number(all.get(STRIPES)), shape, List.copyOf(views));
  }

  private static long number(byte[] text) {
    return Long.parseLong(new String(text, UTF_8));
  }

  /**
   * Begins a view, if the one before it is the present one: of two proposers, one fails. Stripes
   * that are not among those returned can only be opened in this epoch or a later one.
   *
   * @return the number of stripes
   */
  long propose(long epoch, String by) throws Exception {
    CompoundOperation propose =
        CompoundOperation.builder()
            .requireEpoch(Comparison.EQUAL, epoch - 1)
            .raiseEpoch(epoch)
            .setAttribute(VIEW + epoch, by.getBytes(UTF_8))
            .removeAttribute(VIEW + (epoch - MOST_VIEWS))
            .readAttribute(STRIPES)
            .build();
    CompoundResult result = store.operate(path, propose).early();
    requireEpoch(result, 0, epoch);
    return number(result.orThrow().bytes(4));
  }

  /**
   * Opens stripes, unless others have done so.
   *
   * @return the number of stripes that are open
   */
  long open(long epoch, long stripes) throws Exception {
    CompoundOperation open =
        CompoundOperation.builder()
            .requireEpoch(Comparison.AT_MOST, epoch)
            .readAttribute(STRIPES)
            .requireNumber(STRIPES, Comparison.LESS, stripes)
            .setAttribute(STRIPES, Long.toString(stripes).getBytes(UTF_8))
            .build();
    CompoundResult result = store.operate(path, open).early();
    requireEpoch(result, 0, epoch);
    if (result.failedStep() == 2) {
      return number(result.bytes(1));
    }
    result.orThrow();
    return stripes;
  }

  /** Fails when the step that guards the epoch has ended a list. */
  static void requireEpoch(CompoundResult result, int step, long epoch) throws StaleEpochException {
    if (result.failedStep() == step && result.code(step) == ErrorCode.CONDITION_FAILED) {
      throw new StaleEpochException(epoch);
    }
  }
}
