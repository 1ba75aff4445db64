/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.common.Utf8;
import io.crail.protocol.part.NodePath;
import java.util.function.IntFunction;

/** Names for temporary files that a rename can put in their place. Stateless. */
public final class Siblings {
  private static final int ATTEMPTS = 10_000;

  private Siblings() {}

  /**
   * The first candidate that is at the same namenode as a path, since no rename goes from one
   * namenode to another.
   *
   * @param path the path, in the form of the wire
   * @param namenodes the number of namenodes
   * @param candidates gives a candidate for the number of the attempt, from 0; also in that form
   */
  public static String of(String path, int namenodes, IntFunction<String> candidates) {
    int wanted = NodePath.namenodeOf(Utf8.of(path), namenodes);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      String candidate = candidates.apply(attempt);
      if (NodePath.namenodeOf(Utf8.of(candidate), namenodes) == wanted) {
        return candidate;
      }
    }
    throw new AssertionError("no name beside " + path + " for " + namenodes + " namenodes");
  }
}
