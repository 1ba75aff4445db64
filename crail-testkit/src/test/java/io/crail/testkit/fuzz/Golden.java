/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** The golden bytes of the namenode's messages. Every operation has some. */
final class Golden {
  private static final Path FILE =
      Path.of("../crail-rpc/src/test/resources/io/crail/protocol/golden-messages.txt");

  private Golden() {}

  /** The bytes by name: number, operation, and request or response. */
  static Map<String, byte[]> messages() throws IOException {
    Map<String, byte[]> golden = new LinkedHashMap<>();
    Map<String, StringBuilder> texts = new LinkedHashMap<>();
    StringBuilder text = new StringBuilder();
    for (String line : Files.readAllLines(FILE)) {
      if (line.startsWith(" ")) {
        text.append(line.replace(" ", ""));
      } else if (!line.isEmpty() && !line.startsWith("#")) {
        text = new StringBuilder();
        texts.put(line, text);
      }
    }
    texts.forEach((name, hex) -> golden.put(name, HexFormat.of().parseHex(hex)));
    return golden;
  }
}
