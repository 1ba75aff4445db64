/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.utils;

import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Helpers that programs for Apache Crail call. Thread-safe. */
public final class CrailUtils {
  private CrailUtils() {}

  /** {@return the logger {@code io.crail}, whose level is that of all loggers of Crail} */
  public static Logger getLogger() {
    return LoggerFactory.getLogger("io.crail");
  }

  /**
   * Parses pairs in the form of {@code crail.locationmap}: {@code from,to/from,to}.
   *
   * @param config the text; empty for no pair
   * @param map gets the pairs
   * @throws Exception an {@code IllegalArgumentException} that names the bad pair
   */
  public static void parseMap(String config, ConcurrentHashMap<String, String> map)
      throws Exception {
    for (String pair : config.split("/")) {
      String[] parts = pair.split(",", -1);
      if (parts.length == 2) {
        map.put(parts[0].strip(), parts[1].strip());
      } else if (!pair.isEmpty()) {
        throw new IllegalArgumentException("must be from,to but is '" + pair + "'");
      }
    }
  }
}
