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
import org.junit.jupiter.api.Test;

/** Names of owners, whose numbers a namenode gives anew when it starts again. */
class UserNamesRestartTest {
  private static CrailStore store(EmbeddedCrail crail, String user) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.of(crail.configuration());
    configuration.set("crail.user", user);
    configuration.set("crail.client.loops", "1");
    return CrailStore.newInstance(configuration);
  }

  @Test
  void nobodyIsTakenForWhoHasTheNumberNow() throws Exception {
    try (EmbeddedCrail crail =
            EmbeddedCrail.builder().storage(16 << 20).set("crail.rpctimeout", "60s").start();
        CrailStore first = store(crail, "first");
        CrailStore second = store(crail, "second")) {
      Bytes.createFile(first, "/file");
      CrailNode unasked = first.lookup("/file").get();
      CrailNode asked = second.lookup("/file").get();
      assertEquals("first", asked.getAttributes().owner());
      crail.restartNamenode(0);
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
