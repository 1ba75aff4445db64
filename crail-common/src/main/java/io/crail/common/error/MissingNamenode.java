/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/**
 * A namenode whose part of an answer is missing.
 *
 * @param index its place in {@code crail.namenode.address}, from 0
 * @param address host and port
 * @param cause why it did not answer
 */
public record MissingNamenode(int index, String address, CrailException cause) {
  /** True for the errors of a namenode that is down, and not of what it was asked. */
  public static boolean isDown(ErrorCode code) {
    return code == ErrorCode.UNAVAILABLE || code == ErrorCode.TIMED_OUT;
  }

  @Override
  public String toString() {
    return "namenode " + index + " at " + address + " (" + cause.getMessage() + ")";
  }
}
