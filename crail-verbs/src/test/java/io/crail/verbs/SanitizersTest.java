/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The layer between Java and C, with the sanitizers for addresses and undefined behaviour. */
@Timeout(120)
class SanitizersTest {
  @Test
  void whatNeedsNoDevice() throws Exception {
    Sanitizers.run(VerbsTest.class);
  }
}
