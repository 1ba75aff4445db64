/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/** The place of a run of a file's bytes. */
public interface CrailBlockLocation {
  /** {@return the position of the first byte in the file} */
  long getOffset();

  /** {@return the length in bytes} */
  long getLength();

  /** {@return the datanodes that hold the bytes, as {@code host:port}} */
  String[] getNames();

  /** {@return the hosts of these datanodes} */
  String[] getHosts();

  /** {@return the datanodes in their network, as {@code /default-rack/host:port}} */
  String[] getTopology();

  /**
   * {@return the storage classes that these datanodes serve; see {@link CrailStorageClass#value()}}
   */
  int[] getStorageClasses();

  /**
   * Gives the same as {@link #getStorageClasses()}. In Apache Crail this is the place of a
   * datanode's tier in the configured list of tiers. Here a tier is known by its name. Faster and
   * slower datanodes differ by their storage class, and space is chosen by storage class.
   *
   * @return the storage classes
   */
  int[] getStorageTypes();

  /** {@return the location classes of these hosts; see {@link CrailLocationClass#value()}} */
  int[] getLocationAffinities();
}
