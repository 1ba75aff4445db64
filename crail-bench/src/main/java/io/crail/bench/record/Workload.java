/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/**
 * The work of one type, used for one experiment. The main thread calls all methods except the
 * measured {@link #run} and {@link #verify} after it, which have their own thread. Other workloads
 * of the same type may run at the same time.
 */
public interface Workload extends AutoCloseable {
  /**
   * Makes sure that the needed nodes exist. Moves all bytes once if the options say so.
   *
   * @throws BenchException when something is missing; it says what to do
   * @throws Exception as the store throws
   */
  void prepare() throws Exception;

  /**
   * Runs and records operations, between its own calls of {@link Recorder#begin} and {@link
   * Recorder#end}. The open of a file is not measured; the close of a written file is.
   *
   * @throws Exception as the store throws
   */
  void run(long operations, Recorder recorder) throws Exception;

  /**
   * Checks the bytes that a run has read or written, even if the run was given up before its last
   * operation. Not called when this worker or another has failed.
   *
   * @throws BenchException that names what is wrong
   * @throws Exception as the store throws
   */
  default void verify() throws Exception {}

  /**
   * Removes the files that it has made, also those that are kept after a run. Called before {@link
   * #close} when a run has failed for lack of space, or was interrupted.
   *
   * @throws Exception as the store throws
   */
  default void discard() throws Exception {}

  /**
   * Removes the nodes that it has made and that are no longer needed.
   *
   * @throws Exception as the store throws
   */
  @Override
  default void close() throws Exception {}
}
