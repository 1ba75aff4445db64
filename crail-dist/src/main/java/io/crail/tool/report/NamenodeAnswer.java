/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.error.MissingNamenode;

/**
 * Whether a namenode answers.
 *
 * @param index its place in {@code crail.namenode.address}, from 0
 * @param address where it is
 * @param answers whether it does
 * @param micros how long it takes to answer; 0 if it does not
 * @param problem why it does not; empty if it does
 */
public record NamenodeAnswer(
    int index, String address, boolean answers, long micros, String problem) {
  /** Names it for people. */
  public String name() {
    return MissingNamenode.name(index, address);
  }
}
