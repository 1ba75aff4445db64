/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

/** Prints whether RDMA is available, and why not. Runs in its own JVM. */
final class AvailabilityProgram {
  private AvailabilityProgram() {}

  public static void main(String[] arguments) {
    Availability availability = Availability.check(Long.parseLong(arguments[0]));
    System.out.println(availability.usable() + " " + availability.problem());
  }
}
