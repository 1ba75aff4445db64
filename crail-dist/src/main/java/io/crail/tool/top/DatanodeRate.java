/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.top;

import io.crail.tool.report.DatanodeReport;

/**
 * The bytes that a datanode serves in a second, by its last signs of life.
 *
 * @param address where it serves
 * @param tier name of its tier
 * @param readBytes bytes that clients read; -1 if the datanode does not see them
 * @param writtenBytes bytes that clients write; -1 if the datanode does not see them
 */
public record DatanodeRate(String address, String tier, long readBytes, long writtenBytes) {
  static DatanodeRate of(DatanodeReport datanode) {
    return new DatanodeRate(
        datanode.address(), datanode.tier(), datanode.readRate(), datanode.writeRate());
  }

  /** Bytes both ways. */
  public long bytes() {
    return readBytes + writtenBytes;
  }
}
