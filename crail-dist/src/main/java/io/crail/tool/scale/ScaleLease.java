/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.ParentNotFoundException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/**
 * The right to scale a storage class: a lock that ends by itself, at the namenode, beside the
 * record of its owner. Both are written in one step, so who has lost the lock writes no record.
 * Used by one thread.
 */
final class ScaleLease implements ScaleController.Lease {
  private static final String TABLE = "/.crail-scale";
  private static final String RECORD = "scale.record";
  private static final int ATTEMPTS = 3;

  /** What the owner has got. */
  record Held(long token, String record) {}

  private final CrailStore store;
  private final String path;
  private final byte[] owner;
  private final byte[] ownerAndMillis;
  private final long lengthNanos;
  private final Clock clock;

  /** When the last renewal that has succeeded began. */
  private long heldNanos;

  /**
   * Creates it; nothing is asked.
   *
   * @param name what is scaled
   * @param owner who this is, a word of its own
   * @param length how long the lease lives without a renewal
   */
  ScaleLease(CrailStore store, String name, String owner, Duration length, Clock clock) {
    this.lengthNanos = length.toNanos();
    this.clock = clock;
    this.store = store;
    this.path = TABLE + "/" + name;
    this.owner = owner.getBytes(StandardCharsets.UTF_8);
    this.ownerAndMillis = (owner + " " + length.toMillis()).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Takes the lease.
   *
   * @return nothing while another one has it
   * @throws CrailException when the namenode does not answer
   */
  Optional<Held> acquire() throws CrailException, InterruptedException {
    CompoundOperation steps =
        CompoundOperation.builder()
            .call("lock.acquire", ownerAndMillis)
            .readAttribute(RECORD)
            .orGoOn()
            .build();
    long begin = clock.nanoTime();
    CompoundResult result;
    try {
      result = operate(steps);
    } catch (ParentNotFoundException e) {
      makeTable();
      result = operate(steps);
    }
    if (isRefused(result)) {
      return Optional.empty();
    }
    heldNanos = begin;
    String token = text(result.bytes(0));
    String record = result.code(1) == ErrorCode.OK ? text(result.bytes(1)) : "";
    return Optional.of(new Held(Long.parseLong(token), record));
  }

  @Override
  public void hold(String record) throws LeaseLostException, CrailException, InterruptedException {
    CompoundOperation steps =
        CompoundOperation.builder()
            .call("lock.require", owner)
            .call("lock.acquire", ownerAndMillis)
            .setAttribute(RECORD, record.getBytes(StandardCharsets.UTF_8))
            .build();
    try {
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        long begin = clock.nanoTime();
        if (isRefused(operate(steps))) {
          throw new LeaseLostException("it is not held any more");
        }
        // An answer that took long may come when the lease has ended.
        if (clock.nanoTime() - begin < lengthNanos / 2) {
          heldNanos = begin;
          return;
        }
      }
      throw new LeaseLostException("the namenode answers too late");
    } catch (ParentNotFoundException e) {
      throw new LeaseLostException("the namenode with the lease has restarted");
    } catch (CrailException e) {
      // It ends before the next attempt may have: a lease is as long as three of them.
      if (clock.nanoTime() - heldNanos > lengthNanos / 3 * 2) {
        throw new LeaseLostException(
            "it has run out, since it cannot be renewed: " + e.getMessage());
      }
      throw e;
    }
  }

  /** Gives the lease back, if it is still held, so that the next one need not wait. */
  void release() throws CrailException, InterruptedException {
    operate(CompoundOperation.builder().call("lock.release", owner).build());
  }

  /** Whether the lock is another one's. */
  private static boolean isRefused(CompoundResult result) throws CrailException {
    if (result.isSuccess()) {
      return false;
    } else if (result.failure().code() == ErrorCode.CONDITION_FAILED) {
      return true;
    }
    throw result.failure();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private CompoundResult operate(CompoundOperation steps)
      throws CrailException, InterruptedException {
    return await(() -> store.operate(path, steps));
  }

  private void makeTable() throws CrailException, InterruptedException {
    try {
      await(
          () ->
              store.create(
                  TABLE,
                  CrailNodeType.TABLE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  false));
    } catch (NodeExistsException e) {
      // Another controller has made it meanwhile.
    }
  }

  /** An operation that is issued. */
  private interface Step<T> {
    Upcoming<T> begin() throws Exception;
  }

  private static <T> T await(Step<T> step) throws CrailException, InterruptedException {
    try {
      return step.begin().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CrailException failure) {
        throw failure;
      }
      throw new AssertionError(e);
    } catch (CrailException | InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
