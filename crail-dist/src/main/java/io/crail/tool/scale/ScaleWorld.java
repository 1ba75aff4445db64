/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.common.error.CrailException;
import io.crail.tool.drain.DrainWork;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The eyes and hands of a controller: the cluster, the operator's hooks, the clock. */
interface ScaleWorld {
  /** Milliseconds of a clock that only goes on. */
  long millis();

  /** Lets time pass. */
  void sleep(long millis) throws InterruptedException;

  /**
   * Looks at the cluster.
   *
   * @throws CrailException when no namenode answers
   */
  View look() throws CrailException, InterruptedException;

  /**
   * What there is.
   *
   * @param members the datanodes of the storage class
   * @param isWhole whether all namenodes have answered, and know all their datanodes
   */
  record View(List<ScaleMember> members, boolean isWhole) {}

  /**
   * Says to all namenodes that have answered the last look for how long writers may wait for space.
   *
   * @param millis 0 if none is to come
   */
  void announce(long millis) throws CrailException, InterruptedException;

  /**
   * Starts datanodes.
   *
   * @param names names for them
   * @param starting others that were ordered before and have not registered yet
   */
  Hook start(List<String> names, int starting);

  /** Ends a datanode that is drained. */
  Hook stop(UUID uuid, String address);

  /**
   * Asks which datanode is to leave; the last line of the answer is its address. Without a program
   * that says so, it is the first one.
   *
   * @param candidates addresses of those that may, the emptiest first
   */
  Hook choose(List<String> candidates);

  /** Moves the data of a datanode to others, or goes on with that. */
  DrainWork drain(UUID uuid, String address);

  /**
   * Puts a datanode back into use.
   *
   * @return false when no namenode knows it any more, or has data there
   * @throws CrailException when a namenode does not answer, or the datanode is silent, or gets data
   *     at some namenodes only
   */
  boolean undo(UUID uuid, String address) throws CrailException, InterruptedException;

  /** A program of the operator, which goes on beside the controller, up to its deadline. */
  interface Hook {
    /** Whether it has ended; a program that has reached its deadline is ended first. */
    boolean isEnded();

    /** Why it failed; empty if it did not, or goes on. */
    Optional<String> failure();

    /** The last line of its output, once it has ended; empty for none. */
    String lastLine();

    /** Ends it. */
    void abort();
  }
}
