/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailBuffer;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;

/**
 * How the bytes of a key-value move from the namenode to datanodes: they are read and staged, and
 * linked if they are still the same. Stateless.
 */
public final class Settlement {
  /** A list reads and compares as many. */
  private static final int MOST_BYTES = 64 << 10;

  private static final int MOST_TRIES = 10;
  private static final CompoundOperation READ =
      CompoundOperation.builder().read(0, MOST_BYTES).build();

  private Settlement() {}

  /** Moves the bytes of a key-value, as {@link CrailStore#settle} says. */
  public static boolean of(CrailStore store, String path) throws Exception {
    CompoundResult result = null;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      result = operate(store, path, READ);
      if (!isKept(result)) {
        return false;
      }
      byte[] bytes = result.bytes(0);
      if (bytes.length == 0) {
        return false;
      }
      result = link(store, path, result.id(), bytes);
      if (result.isSuccess()) {
        return true;
      }
    }
    throw result.failure();
  }

  /** False when the bytes are at datanodes. */
  private static boolean isKept(CompoundResult result) throws CrailException {
    if (!result.isSuccess() && result.code(result.failedStep()) == ErrorCode.NOT_KEPT) {
      return false;
    }
    result.orThrow();
    return true;
  }

  private static CompoundResult link(CrailStore store, String path, long id, byte[] bytes)
      throws Exception {
    CrailBuffer copy =
        OffHeapBuffer.wrap(ByteBuffer.allocateDirect(bytes.length).put(bytes).flip());
    try (StagedBytes staged = outcome(store.stage(path, copy))) {
      CompoundOperation list =
          CompoundOperation.builder()
              .requireExists()
              .requireId(id)
              .requireSize(Comparison.EQUAL, bytes.length)
              .requireBytes(0, Comparison.EQUAL, bytes)
              .settle(staged)
              .build();
      CompoundResult result = operate(store, path, list);
      int failed = result.failedStep();
      boolean isLinkRefused = failed == list.steps().size() - 1;
      if (isLinkRefused && result.code(failed) != ErrorCode.CONDITION_FAILED) {
        result.orThrow();
      }
      return result;
    }
  }

  private static CompoundResult operate(CrailStore store, String path, CompoundOperation list)
      throws Exception {
    return outcome(store.operate(path, list));
  }

  private static <T> T outcome(Upcoming<T> upcoming) throws Exception {
    try {
      return upcoming.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof CrailException failure ? failure : e;
    }
  }
}
