/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** Where a run of a file's bytes lies. */
public interface CrailBlockLocation {
  /** Position of its first byte in the file. */
  long getOffset();

  /** Bytes. */
  long getLength();

  /** The datanodes that hold it, as {@code host:port}. */
  String[] getNames();

  /** The hosts of these datanodes. */
  String[] getHosts();

  /** The datanodes in their network, as {@code /default-rack/host:port}. */
  String[] getTopology();

  /** The storage classes that these datanodes serve; see {@link CrailStorageClass#value()}. */
  int[] getStorageClasses();

  /**
   * The same as {@link #getStorageClasses()}. In Apache Crail this is the place of a datanode's
   * tier in a list of tiers that each process has in its configuration. Here tiers have names and
   * no such list; what tells faster datanodes from slower ones is their class, and it is by classes
   * that space is chosen.
   */
  int[] getStorageTypes();

  /** The location classes of these hosts; see {@link CrailLocationClass#value()}. */
  int[] getLocationAffinities();
}
