/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Values that would be small, but for the namenode, which has memory for next to none. */
class FullKeyValueTest extends KeyValueContract {
  @Override
  String[] settings() {
    return new String[] {"crail.namenode.smallvalue=1k", "crail.namenode.smallvalues=60"};
  }

  @Override
  boolean lostWithItsStore() {
    return true;
  }
}
