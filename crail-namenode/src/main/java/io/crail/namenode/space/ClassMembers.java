/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.conf.BlockSelection;

/**
 * The datanodes of a class that may get data, in the order of their registration. Immutable.
 *
 * @param datanodes not to be changed
 */
record ClassMembers(DatanodeSpace[] datanodes) implements BlockSelection.Candidates {
  @Override
  public int count() {
    return datanodes.length;
  }

  @Override
  public long freeBytes(int index) {
    // Otherwise one that gets nothing would soon be the first, and all would go to the next one.
    return datanodes[index].signs().isAskedLast() ? 0 : datanodes[index].freeBytes();
  }
}
