/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailFile;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import java.util.List;
import java.util.Map;

/** The types of nodes in words. Stateless. */
public final class NodeTypes {
  /** Words for the types that a user can make; Apache Crail's papers call a multi-file a bag. */
  static final Map<String, CrailNodeType> CONTAINERS =
      Map.of(
          "directory",
          CrailNodeType.DIRECTORY,
          "multifile",
          CrailNodeType.MULTIFILE,
          "bag",
          CrailNodeType.MULTIFILE,
          "table",
          CrailNodeType.TABLE);

  /** The words of {@link #CONTAINERS} in the order of a help. */
  static final List<String> CONTAINER_WORDS = List.of("directory", "multifile", "bag", "table");

  private NodeTypes() {}

  /** The word for a type. */
  public static String word(CrailNodeType type) {
    return switch (type) {
      case DATAFILE -> "file";
      case DIRECTORY -> "directory";
      case MULTIFILE -> "multifile";
      case STREAMFILE -> "stream";
      case TABLE -> "table";
      case KEYVALUE -> "key-value";
    };
  }

  /** A file or a key-value as what has bytes. */
  static CrailFile withBytes(CrailNode node) throws Exception {
    return node.getType().isKeyValue() ? node.asKeyValue() : node.asFile();
  }
}
