/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Clock;
import io.crail.nvmf.Controller;
import io.crail.nvmf.NamespaceData;
import io.crail.rpc.ClientLoop;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A datanode's claim to a namespace, which stands in the label at its beginning. It is taken only
 * from no one, or from a datanode that gives no sign of life, and is renewed each second. Used in
 * the loop, except where said.
 *
 * <p>Of several datanodes that take one namespace at the same time, at most one gets it. Each
 * reads, writes its label, waits, and reads again: it holds the namespace if its own label is still
 * there. The wait is as long as a write may take after the read before it. Whose write took longer
 * waits until anybody who held the namespace has noticed, and begins anew (Fischer's algorithm, in
 * Lamport, "A fast mutual exclusion algorithm", 1987).
 */
final class NamespaceClaim {
  /** Learns how the claim does. Called in the loop. */
  interface Listener {
    /** The namespace is this datanode's. */
    void held();

    /** A sign of life is in its label. */
    void renewed();

    /** It is not, or no longer. */
    void refused(String why);

    /** The target answers no read or write of the label. */
    void silent(String why);
  }

  private enum State {
    /** An access is under way, or the connection is lost. */
    BUSY,
    /** Looks at another datanode's label for a sign of life. */
    WATCHING,
    /** Has written its label, and looks whether it stays. */
    WRITTEN,
    /** Holds the namespace. */
    HELD,
    /** Has given it back, or never gets it. */
    ENDED
  }

  /** A datanode gives a sign of life each second, or two when it has nothing else to do. */
  static final long LEAST_QUIET_NANOS = TimeUnit.SECONDS.toNanos(8);

  private static final Logger LOG = LoggerFactory.getLogger(NamespaceClaim.class);
  private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Shorter than others wait for a sign of life. */
  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final Claimant claimant;
  private final ClientLoop loop;
  private final Clock clock;
  private final Listener listener;
  private State state = State.BUSY;
  private LabelAccess access;
  private NamespaceLabel seen;
  private long beat;
  private boolean written;
  private boolean announced;

  /** Whether data that are not Crail's stand where a label is to be, or after it. */
  private boolean clears;

  // How long an earlier datanode's clients may use the namespace, and when that is over.
  private long restNanos;
  private long restedNanos;
  private boolean held;
  private boolean wasLent;
  private boolean isReported;
  private volatile boolean usable;
  private Runnable released;
  private long busySinceNanos;
  private long readNanos;
  private long quietUntilNanos;
  private long nextNanos;

  NamespaceClaim(Claimant claimant, ClientLoop loop, Listener listener) {
    this.claimant = claimant;
    this.loop = loop;
    this.clock = loop.clock();
    this.listener = listener;
    this.beat = clock.nanoTime();
  }

  /** Whether clients may know the namespace from an earlier datanode; once it is held. */
  boolean wasLent() {
    return wasLent;
  }

  /**
   * Whether the namespace is held, and the last access to its label over this connection was good.
   * For any thread.
   */
  boolean isUsable() {
    return usable;
  }

  /** The connection is lost. A target that answers connects may have lost the device behind it. */
  void lost() {
    usable = false;
  }

  /** Continues over a connection, the first or a later one. */
  void connected(Controller controller, NamespaceData namespace) {
    if (state == State.ENDED) {
      return;
    }
    if (access != null) {
      access.abandon();
    }
    access = new LabelAccess(loop, controller, namespace);
    if (held) {
      look();
    } else {
      inspect();
    }
  }

  private String name() {
    return "namespace " + access.namespace().number();
  }

  private void busy() {
    state = State.BUSY;
    busySinceNanos = clock.nanoTime();
  }

  private void inspect() {
    busy();
    access.readSpace(this::inspected);
  }

  private void inspected(ByteBuffer space, String problem) {
    if (isOver(problem)) {
      return;
    }
    NamespaceLabel label = NamespaceLabel.read(space);
    // What was given back may have become a part of something else, which leaves a label alone.
    clears = !isZero(space, label == null ? 0 : NamespaceLabel.LENGTH);
    if (clears && !claimant.overwrite()) {
      refuse(
          name()
              + " holds data that are not Crail's; key '"
              + NvmfStorageKeys.OVERWRITE.name()
              + "' lets it be overwritten");
    } else if (label == null) {
      take();
    } else {
      found(label);
    }
  }

  private static boolean isZero(ByteBuffer space, int from) {
    for (int at = from; at < space.capacity(); at += Long.BYTES) {
      if (space.getLong(at) != 0) {
        return false;
      }
    }
    return true;
  }

  /** A label is there. */
  private void found(NamespaceLabel label) {
    if (label.isOf(claimant.datanode()) && !written) {
      refuse(name() + " is listed twice");
      return;
    }
    wasLent = true;
    seen = label;
    // Space rests for the drain of the new datanode's clients; an earlier one's may last longer.
    long longer = TimeUnit.MILLISECONDS.toNanos(label.drainMillis() - claimant.drainMillis());
    // Clients of a datanode that has died use the namespace until they see the new label.
    restNanos = label.lent() ? Math.max(0, longer) : 0;
    // A sign of life may be as late as any other write.
    long drain = TimeUnit.MILLISECONDS.toNanos(label.drainMillis());
    long wait = label.lent() ? Math.max(claimant.quietNanos(), drain) : longer;
    if (wait <= 0) {
      take();
      return;
    }
    LOG.info(
        "{} {} lent by {}; waiting {} ms",
        name(),
        label.lent() ? "is said to be" : "was",
        label,
        TimeUnit.NANOSECONDS.toMillis(wait));
    watch(wait);
  }

  private void watch(long nanos) {
    quietUntilNanos = clock.nanoTime() + nanos;
    after(State.WATCHING, BEAT_NANOS);
  }

  private void after(State newState, long nanos) {
    state = newState;
    nextNanos = clock.nanoTime() + nanos;
  }

  /** Writes the label, if there is still what was seen: another datanode may have been faster. */
  private void take() {
    busy();
    readNanos = clock.nanoTime();
    access.readLabel(
        (block, problem) -> {
          if (isOver(problem)) {
            return;
          }
          NamespaceLabel label = NamespaceLabel.read(block);
          if (label == null && seen != null) {
            refuse(name() + " was overwritten");
          } else if (label != null && !label.equals(seen)) {
            found(label);
          } else {
            beat++;
            written = true;
            access.write(label(true), clears, this::taken);
          }
        });
  }

  private NamespaceLabel label(boolean lent) {
    return NamespaceLabel.of(claimant, beat, lent);
  }

  private void taken(ByteBuffer block, String problem) {
    if (isOver(problem)) {
      return;
    }
    if (clock.nanoTime() - readNanos > SETTLE_NANOS) {
      // Another datanode may hold the namespace since before this write; it ends when it sees it.
      LOG.warn(
          "{}: an access to its label took longer than {} ms; waiting, and trying again",
          name(),
          TimeUnit.NANOSECONDS.toMillis(SETTLE_NANOS));
      wasLent = true;
      seen = label(true);
      watch(Math.max(LEAST_QUIET_NANOS, TimeUnit.MILLISECONDS.toNanos(claimant.drainMillis())));
    } else {
      after(State.WRITTEN, SETTLE_NANOS);
    }
  }

  /** Continues when it is time. */
  void sweep(long nowNanos) {
    tellWhenRested(nowNanos);
    boolean due = state == State.WATCHING || state == State.WRITTEN || state == State.HELD;
    if (due && nowNanos - nextNanos >= 0) {
      look();
    } else if (state == State.BUSY && nowNanos - busySinceNanos >= ANSWER_NANOS) {
      listener.silent("no answer to an access to the label of " + name());
    } else if (state == State.BUSY) {
      // Other namespaces share the queue.
      access.send();
    }
  }

  private void look() {
    State before = state;
    busy();
    access.readLabel(
        (block, problem) -> {
          if (held) {
            lookedAtOwn(block, problem);
          } else if (!isOver(problem)) {
            NamespaceLabel label = NamespaceLabel.read(block);
            if (before == State.WATCHING) {
              watched(label);
            } else {
              settled(label);
            }
          }
        });
  }

  private void watched(NamespaceLabel label) {
    if (label == null) {
      refuse(name() + " was overwritten");
    } else if (label.equals(seen) && clock.nanoTime() - quietUntilNanos >= 0) {
      take();
    } else if (label.equals(seen)) {
      after(State.WATCHING, BEAT_NANOS);
    } else if (!label.lent()) {
      found(label);
    } else {
      refuse(name() + " is lent by " + label);
    }
  }

  private void settled(NamespaceLabel label) {
    if (!label(true).equals(label)) {
      boolean own = label != null && label.isOf(claimant.datanode());
      String taken = " was taken by " + (label == null ? "another host" : label);
      refuse(name() + (own ? " is listed twice" : taken));
      return;
    }
    held = true;
    usable = true;
    restedNanos = clock.nanoTime() + restNanos;
    after(State.HELD, BEAT_NANOS);
    tellWhenRested(clock.nanoTime());
  }

  private void tellWhenRested(long nowNanos) {
    if (held && !announced && nowNanos - restedNanos >= 0) {
      announced = true;
      listener.held();
    }
  }

  private void lookedAtOwn(ByteBuffer block, String problem) {
    if (problem != null) {
      again(problem);
      return;
    }
    NamespaceLabel label = NamespaceLabel.read(block);
    if (label == null) {
      refuse(name() + " was overwritten, or has lost its data");
    } else if (!label.isOf(claimant.datanode())) {
      refuse(name() + " was taken by " + label);
    } else if (!isOver(null) && clock.nanoTime() - busySinceNanos > SETTLE_NANOS) {
      // Another datanode may have taken the namespace since, for whom this looked dead.
      after(State.HELD, 0);
    } else if (!isOver(null)) {
      beat++;
      access.write(
          label(true),
          false,
          (same, reason) -> {
            if (reason != null) {
              again(reason);
            } else if (!isOver(null)) {
              isReported = false;
              usable = true;
              after(State.HELD, BEAT_NANOS);
              listener.renewed();
            }
          });
    }
  }

  /** A sign of life failed; the next one may not. */
  private void again(String problem) {
    usable = false;
    if (!isReported) {
      LOG.warn("cannot renew the label of {}: {}", name(), problem);
      isReported = true;
    }
    if (!isOver(null)) {
      after(State.HELD, BEAT_NANOS);
    }
  }

  /** True when there is nothing to continue after an access: it has failed, or this is to end. */
  private boolean isOver(String problem) {
    if (state == State.ENDED) {
      return true;
    }
    if (released != null) {
      giveBack();
      return true;
    }
    if (problem != null) {
      refuse("the label of " + name() + ": " + problem);
    }
    return problem != null;
  }

  private void refuse(String why) {
    state = State.ENDED;
    listener.refused(why);
    if (released != null) {
      released.run();
    }
  }

  /**
   * Gives the namespace back, so that another datanode may take it at once. Only while there is a
   * connection.
   */
  void release(Runnable end) {
    if (state == State.ENDED) {
      end.run();
      return;
    }
    released = end;
    if (state != State.BUSY) {
      giveBack();
    }
  }

  private void giveBack() {
    state = State.ENDED;
    if (!written) {
      released.run();
      return;
    }
    access.readLabel(
        (block, problem) -> {
          NamespaceLabel label = problem == null ? NamespaceLabel.read(block) : null;
          if (label != null && label.isOf(claimant.datanode())) {
            access.write(label(false), false, (same, reason) -> released.run());
          } else {
            // It belongs to another datanode by now.
            released.run();
          }
        });
  }
}
