/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.testkit.guest.GuestTier;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that contracts run over tiers which nothing here names. */
class TierListTest {
  @Test
  void aTierOfTheClassPathNeedsNoEntry() throws Exception {
    List<String> names = Tier.values().stream().map(Tier::toString).toList();
    assertEquals(1, names.stream().filter(GuestTier.NAME::equals).count(), names::toString);
    Tier guest = Tier.of(GuestTier.NAME);
    assumeTrue(Tier.of(Tier.TCP).isFor(contract()), "this JVM is limited to other tiers");
    assertTrue(guest.isFor(contract()), "of a datanode alone");
    EachTier ofStore =
        Class.forName("io.crail.store.BufferedStreamTest").getAnnotation(EachTier.class);
    assertTrue(guest.isFor(ofStore), "of a whole store");
    assertEquals(List.of(GuestTier.NAME), guest.types());
  }

  private static EachTier contract() {
    return TransfersTest.class.getAnnotation(EachTier.class);
  }
}
