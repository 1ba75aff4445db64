/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

/** What a target does with a command. */
public enum Fate {
  /** Executes it and answers. */
  NORMAL,
  /** Executes it and answers a second later. */
  SLOW,
  /** Executes it and never answers. */
  SILENT,
  /** Neither executes nor answers it. */
  IGNORED,
  /** Answers a write with success before it has asked for its data, and never executes it. */
  EARLY,
  /** Executes it and answers twice. */
  TWICE,
  /** Executes and answers it after the next command, or after a moment when none comes. */
  LATE,
  /** Keeps a write until the test lets it be executed, even after its connection; no answer. */
  KEPT,
  /** Ends the connection before it is executed. */
  CLOSE,
  /** Executes it and ends the connection in the middle of the answer. */
  CLOSE_WITHIN,
  /** Answers with bytes that mean nothing. */
  GARBAGE,
  /** Says that it sends more data than there are. */
  WRONG_LENGTH,
  /** Answers with the id of another command. */
  WRONG_ID,
  /** Flips a bit of the data, after their digest was made. */
  DAMAGED_DATA,
  /** Flips a bit of each header, after its digest was made; see {@link NvmeTarget#damage}. */
  DAMAGED_HEADER,
  /** Answers that the target has an internal error. */
  FAILED
}
