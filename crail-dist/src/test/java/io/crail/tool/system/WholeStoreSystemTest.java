/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.embedded.EmbeddedCrail;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tests the whole store over TCP. */
class WholeStoreSystemTest extends WholeStoreContract {
  @Override
  ProcessCluster newCluster() throws Exception {
    return ProcessCluster.start(2, 2, settingsOfThisPass());
  }

  /** As those of an embedded cluster: the slow ways in the second pass over the tests. */
  private static Map<String, String> settingsOfThisPass() {
    return Stream.of(System.getProperty(EmbeddedCrail.SETTINGS_PROPERTY, "").split("\\s+"))
        .filter(setting -> !setting.isEmpty())
        .map(setting -> setting.split("=", 2))
        .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
  }
}
