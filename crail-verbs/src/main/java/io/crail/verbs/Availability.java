/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.util.List;

/**
 * Whether this process can use RDMA.
 *
 * @param usable whether the library is there, and a device that this process may open
 * @param devices the names of the devices, empty without a library
 * @param memlockLimitBytes how many bytes this process may register, see {@link
 *     Verbs#memlockLimitBytes()}; 0 without a library
 * @param problem a sentence that says what is missing and how to get it; empty when usable
 */
public record Availability(
    boolean usable, List<String> devices, long memlockLimitBytes, String problem) {
  /** Copies the list. */
  public Availability {
    devices = List.copyOf(devices);
  }
}
