/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

/** A drain, which goes on beside the one that has begun it. */
public interface DrainWork {
  /** How a drain stands. */
  enum Outcome {
    /** Data move, or wait. */
    GOES_ON,
    /** The datanode is empty, and no client uses it. */
    EMPTY,
    /** The datanode was lost with data. */
    LOST,
    /** Somebody has put the datanode back into use. */
    CANCELLED,
    /** It cannot go on. */
    FAILED
  }

  /** How it stands. */
  Outcome outcome();

  /** Why it has failed, or what holds it up; empty for nothing. */
  String reason();

  /** The bytes that are still to be moved, about; {@link Long#MAX_VALUE} before it has begun. */
  long leftBytes();

  /** Ends the work, and waits for that. The namenodes keep how far the drain is. */
  void stop() throws InterruptedException;
}
