/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import org.junit.jupiter.api.Tag;

/** Values whose bytes all lie at datanodes. */
@EachTier(
    and = {Tier.NVMF, Tier.FOUND},
    ifLong = Tier.MIXED)
@Tag("repeat")
class LargeKeyValueTest extends KeyValueContract {
  LargeKeyValueTest() {
    super("crail.namenode.smallvalue=0");
  }
}
