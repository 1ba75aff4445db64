/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Values whose bytes all lie at datanodes. */
class LargeKeyValueTest extends KeyValueContract {
  @Override
  String[] settings() {
    return new String[] {"crail.namenode.smallvalue=0"};
  }
}
