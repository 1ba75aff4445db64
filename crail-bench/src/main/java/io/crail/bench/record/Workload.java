/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

/**
 * What one type does. Used for one experiment: by the main thread, except {@link #run} for the
 * figures and {@link #verify} after it, which have a thread of their own. Others of the same type
 * may run meanwhile.
 */
public interface Workload extends AutoCloseable {
  /**
   * Makes sure that what it needs is there, and moves bytes once where the options ask for it.
   *
   * @throws BenchException when something is missing, and what to do about it
   * @throws Exception as the store throws
   */
  void prepare() throws Exception;

  /**
   * Does operations and records them, from its own {@link Recorder#begin} to its own {@link
   * Recorder#end}: opening files is not measured, closing a written one is.
   *
   * @throws Exception as the store throws
   */
  void run(long operations, Recorder recorder) throws Exception;

  /**
   * Checks what a run has read or written, also when it was given up before its last operation; not
   * called when it, or another worker, has failed.
   *
   * @throws BenchException that names what is wrong
   * @throws Exception as the store throws
   */
  default void verify() throws Exception {}

  /**
   * Removes what it has made and nobody needs.
   *
   * @throws Exception as the store throws
   */
  @Override
  default void close() throws Exception {}
}
