/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The key-values of the entries, and the one that counts positions. Each operation is one list that
 * guards with the epoch of its caller. A slot that is filled or trimmed is empty; one with an entry
 * has the epoch that wrote it, 8 bytes, and the entry. Thread-safe.
 */
final class LogEntries {
  private static final byte[] HOLE = {};
  private static final String TAIL = "tail";
  private static final String NEXT = "next";

  /** Keys that are made or sealed at the same time. */
  private static final int IN_FLIGHT = 256;

  private final CrailStore store;
  private final String log;
  private final LogShape shape;

  LogEntries(CrailStore store, String log, LogShape shape) {
    this.store = store;
    this.log = log;
    this.shape = shape;
  }

  /** Performs a list on a key, which has to be there. */
  private CompoundResult operate(String key, CompoundOperation.Builder steps) throws Exception {
    return there(key, store.operate(log + "/" + key, steps.build()).early());
  }

  /** Keys are there before they are used, so one that is missing has been lost. */
  private static CompoundResult there(String key, CompoundResult result) throws Exception {
    if (!result.isSuccess() && result.code(result.failedStep()) == ErrorCode.NODE_NOT_FOUND) {
      throw new LostPartException(key);
    }
    return result;
  }

  /** Makes the counter of positions. */
  void makeTail() throws Exception {
    store.operate(log + "/" + TAIL, make().add(NEXT, 0).build()).early().orThrow();
  }

  private static CompoundOperation.Builder make() {
    return CompoundOperation.builder().create();
  }

  /** Makes the keys of stripes that are not open yet; some may be there. */
  void make(long from, long to) throws Exception {
    CompoundOperation make = make().orGoOn().build();
    forEach(from, to, make, (key, result) -> result.orThrow());
  }

  /** What is done with the result of a key. */
  private interface Taker {
    void take(String key, CompoundResult result) throws Exception;
  }

  /** Performs a list on all keys of stripes, some at the same time. */
  private void forEach(long from, long to, CompoundOperation list, Taker taker) throws Exception {
    Deque<String> keys = new ArrayDeque<>();
    Deque<Upcoming<CompoundResult>> results = new ArrayDeque<>();
    for (long stripe = from; stripe < to; stripe++) {
      for (int column = 0; column < shape.width(); column++) {
        if (results.size() == IN_FLIGHT) {
          taker.take(keys.remove(), results.remove().early());
        }
        keys.add(LogShape.key(stripe, column));
        results.add(store.operate(log + "/" + keys.getLast(), list));
      }
    }
    while (!results.isEmpty()) {
      taker.take(keys.remove(), results.remove().early());
    }
  }

  private static CompoundOperation.Builder within(long epoch) {
    return CompoundOperation.builder().requireEpoch(Comparison.AT_MOST, epoch);
  }

  /** True when there is no such attribute, since the second step of a list failed. */
  private static boolean isMissing(CompoundResult result, long epoch) throws Exception {
    LogHead.requireEpoch(result, 0, epoch);
    if (result.isSuccess()) {
      return false;
    }
    if (result.code(result.failedStep()) != ErrorCode.CONDITION_FAILED) {
      throw result.failure();
    }
    return true;
  }

  /** Takes the next position; no other client gets it. */
  long take(long epoch) throws Exception {
    CompoundResult result = operate(TAIL, within(epoch).add(NEXT, 1));
    LogHead.requireEpoch(result, 0, epoch);
    return result.orThrow().number(1) - 1;
  }

  /** The position that is taken next. */
  long next(long epoch) throws Exception {
    CompoundResult result = operate(TAIL, within(epoch).readAttribute(NEXT));
    LogHead.requireEpoch(result, 0, epoch);
    return Long.parseLong(new String(result.orThrow().bytes(1), UTF_8));
  }

  void write(long epoch, long position, byte[] entry) throws Exception {
    byte[] value = ByteBuffer.allocate(Long.BYTES + entry.length).putLong(epoch).put(entry).array();
    String slot = shape.slot(position);
    CompoundResult result =
        operate(
            shape.key(position), within(epoch).requireNoAttribute(slot).setAttribute(slot, value));
    LogHead.requireEpoch(result, 0, epoch);
    requireFree(result, 1, position);
  }

  /** {@return the epoch that wrote the entry, and the entry} */
  ByteBuffer read(long epoch, long position) throws Exception {
    CompoundResult result =
        operate(shape.key(position), within(epoch).readAttribute(shape.slot(position)));
    if (isMissing(result, epoch)) {
      throw new NotWrittenException(position);
    }
    byte[] value = result.bytes(1);
    if (value.length == 0) {
      throw new NoEntryException(position);
    }
    return ByteBuffer.wrap(value);
  }

  void fill(long epoch, long position) throws Exception {
    String slot = shape.slot(position);
    CompoundResult result =
        operate(
            shape.key(position),
            within(epoch)
                .requireAttribute(slot, Comparison.EQUAL, HOLE)
                .orGoOn()
                .requireNoAttribute(slot)
                .setAttribute(slot, HOLE));
    LogHead.requireEpoch(result, 0, epoch);
    boolean isHole = result.count() > 1 && result.code(1) == ErrorCode.OK;
    if (!isHole) {
      requireFree(result, 2, position);
    }
  }

  private static void requireFree(CompoundResult result, int step, long position) throws Exception {
    if (result.failedStep() == step && result.code(step) == ErrorCode.CONDITION_FAILED) {
      throw new AlreadyWrittenException(position);
    }
    result.orThrow();
  }

  void trim(long epoch, long position) throws Exception {
    CompoundResult result =
        operate(shape.key(position), within(epoch).setAttribute(shape.slot(position), HOLE));
    LogHead.requireEpoch(result, 0, epoch);
    result.orThrow();
  }

  /** Seals the counter and all keys of the stripes. */
  void seal(long epoch, long stripes) throws Exception {
    CompoundOperation seal = CompoundOperation.builder().raiseEpoch(epoch).build();
    endSeal(TAIL, store.operate(log + "/" + TAIL, seal).early(), epoch);
    forEach(0, stripes, seal, (key, result) -> endSeal(key, result, epoch));
  }

  private static void endSeal(String key, CompoundResult result, long epoch) throws Exception {
    LogHead.requireEpoch(there(key, result), 0, epoch);
    result.orThrow();
  }

  /** The highest position that was written, filled or trimmed, of sealed stripes; -1 for none. */
  long maxPosition(long epoch, long stripes) throws Exception {
    CompoundOperation read =
        CompoundOperation.builder().requireEpoch(Comparison.EQUAL, epoch).readAttributes().build();
    long max = -1;
    for (long stripe = stripes - 1; stripe >= 0 && max < 0; stripe--) {
      List<Upcoming<CompoundResult>> columns = new ArrayList<>();
      for (int column = 0; column < shape.width(); column++) {
        columns.add(store.operate(log + "/" + LogShape.key(stripe, column), read));
      }
      for (int column = 0; column < shape.width(); column++) {
        CompoundResult result = there(LogShape.key(stripe, column), columns.get(column).early());
        LogHead.requireEpoch(result, 0, epoch);
        for (String slot : result.orThrow().attributes(1).keySet()) {
          max = Math.max(max, shape.position(stripe, column, slot));
        }
      }
    }
    return max;
  }

  /** Makes sure that the positions taken from now on are at or above one. */
  void advance(long epoch, long position) throws Exception {
    CompoundResult result =
        operate(
            TAIL,
            CompoundOperation.builder()
                .requireEpoch(Comparison.EQUAL, epoch)
                .add(NEXT, 0)
                .requireNumber(NEXT, Comparison.LESS, position)
                .setAttribute(NEXT, Long.toString(position).getBytes(UTF_8)));
    LogHead.requireEpoch(result, 0, epoch);
    if (result.failedStep() != 2) {
      result.orThrow();
    }
  }
}
