/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

/**
 * A namenode that did not answer, so its part of the result is missing.
 *
 * @param index its place in {@code crail.namenode.address}, from 0
 * @param address host and port
 * @param cause why it did not answer
 */
public record MissingNamenode(int index, String address, CrailException cause) {
  /**
   * Returns whether an error means that the namenode is down, and not that it refused the request.
   *
   * @param code the error
   * @return true for the errors of a namenode that is down
   */
  public static boolean isDown(ErrorCode code) {
    return code == ErrorCode.UNAVAILABLE
        || code == ErrorCode.TIMED_OUT
        || code == ErrorCode.NO_SHARE;
  }

  /**
   * Names a namenode for people.
   *
   * @param index its place in {@code crail.namenode.address}, from 0
   * @param address host and port
   * @return its name in messages
   */
  public static String name(int index, String address) {
    return "namenode " + index + " at " + address;
  }

  @Override
  public String toString() {
    return name(index, address) + " (" + cause.getMessage() + ")";
  }
}
