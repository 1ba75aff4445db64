/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

/**
 * What a datanode that is to run on this host would take of the host, as the doctor looks at it.
 *
 * @param tier its tier
 * @param place the directory in which it keeps what it lends; empty when it keeps that elsewhere
 * @param bytes how much it lends of this host's memory or files
 * @param networkInterface where it serves; empty when it serves nothing itself
 * @param port the TCP port that it listens on; 0 for any, or none
 */
public record PlannedDatanode(
    String tier, String place, long bytes, String networkInterface, int port) {
  /** One that takes nothing of the host. */
  public static PlannedDatanode elsewhere(String tier) {
    return new PlannedDatanode(tier, "", 0, "", 0);
  }

  /** The same, in another place. */
  public PlannedDatanode in(String otherPlace) {
    return new PlannedDatanode(tier, otherPlace, bytes, networkInterface, port);
  }

  /** The same, which listens on no port of TCP. */
  public PlannedDatanode withoutPort() {
    return new PlannedDatanode(tier, place, bytes, networkInterface, 0);
  }
}
