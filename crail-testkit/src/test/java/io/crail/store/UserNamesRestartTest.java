/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.StaleNodeException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Names of owners, whose numbers a namenode gives anew when it starts again. */
@EachTier
@Tag("repeat")
class UserNamesRestartTest {
  private final Tier tier;

  UserNamesRestartTest(Tier tier) {
    this.tier = tier;
  }

  private static CrailStore store(EmbeddedCrail crail, String user) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.of(crail.configuration());
    configuration.set("crail.user", user);
    configuration.set("crail.client.loops", "1");
    return CrailStore.newInstance(configuration);
  }

  @Test
  void noUserIsTakenForTheOneWhoHasTheNumberNow() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1);
        CrailStore first = store(cluster.crail(), "first");
        CrailStore second = store(cluster.crail(), "second")) {
      Bytes.createFile(first, "/file");
      CrailNode unasked = first.lookup("/file").get();
      CrailNode asked = second.lookup("/file").get();
      assertEquals("first", asked.getAttributes().owner());
      cluster.crail().restartNamenode(0);
      // That the old connection has ended may still be on its way, and no create is sent twice.
      assertNull(second.lookup("/file").get());
      Bytes.createFile(second, "/file");
      CrailNode present = first.lookup("/file").get();
      assertEquals("second", present.getAttributes().owner());
      assertEquals("second", second.lookup("/file").get().getAttributes().owner());
      assertThrows(StaleNodeException.class, unasked::getAttributes);
      assertThrows(StaleNodeException.class, asked::getAttributes);
    }
  }
}
