/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import java.util.List;

/**
 * What a run that balances has found and done, as programs see it. Immutable.
 *
 * @param parts use and plan of each namenode and storage class, before anything was moved
 * @param balanced whether all is within the threshold now; with a dry run, whether it was
 * @param movedBytes bytes that were moved
 * @param movedExtents extents that were moved
 * @param heldUpBy what kept data in its place; may be empty
 * @param missing namenodes that were left out
 */
public record BalanceResult(
    List<Part> parts,
    boolean balanced,
    long movedBytes,
    long movedExtents,
    String heldUpBy,
    List<String> missing) {
  /**
   * A storage class at a namenode.
   *
   * @param average the part of all space that is used, 0 to 1
   */
  public record Part(
      String namenode, int storageClass, double average, List<Use> datanodes, List<Flow> plan) {}

  /** A datanode, by its address. */
  public record Use(String datanode, long capacityBytes, long usedBytes) {}

  /** What is to be moved. */
  public record Flow(String from, String to, long bytes) {}
}
