/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.conf.BlockSelection;
import java.util.random.RandomGenerator;

/** An external policy, found by its name. It always chooses the last datanode. */
public final class ThirdPartySelection implements BlockSelection.Provider {
  @Override
  public String name() {
    return "third-party";
  }

  @Override
  public BlockSelection create(RandomGenerator random) {
    return candidates -> candidates.count() - 1;
  }
}
