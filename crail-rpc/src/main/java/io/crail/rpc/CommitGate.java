/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

/**
 * Says when answers may leave a server: not before all that they rest on is committed, such as
 * written to a log. What is to be committed is counted by a position that only grows. An answer
 * waits for the position of the moment in which it was complete, so it never shows what may be
 * lost. This is group commit (Gawlick, Kinkade, 1985): requests are served at once, and one write
 * to a disk lets the answers to many leave. Thread-safe.
 */
public interface CommitGate {
  /** The gate of a server that commits nothing. */
  CommitGate OPEN =
      new CommitGate() {
        @Override
        public long position() {
          return 0;
        }

        @Override
        public long reached() {
          return 0;
        }

        @Override
        public boolean hasFailed() {
          return false;
        }

        @Override
        public void whenReached(long position, Runnable action) {
          action.run();
        }
      };

  /** What answers that are complete now wait for. To commit it begins at once, if it has not. */
  long position();

  /**
   * Whether answers wait too that rest on no change, because another server may have taken the
   * place of this one.
   */
  default boolean isForAll() {
    return false;
  }

  /** Answers that wait for this position, or an earlier one, may leave. */
  long reached();

  /** True if no further position will be reached. The answers that wait must never leave. */
  boolean hasFailed();

  /**
   * Runs an action once, in any thread, as soon as a position is reached, or the gate has failed.
   * The action must neither fail nor wait.
   */
  void whenReached(long position, Runnable action);
}
