/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.NodePath;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A path, twice: as a user writes it, and as bytes that arrive. Both ends must apply the same
 * rules, and there is only one form on the wire.
 *
 * <pre>[number of namenodes][path ...]</pre>
 */
final class PathsTarget implements Target {
  @Override
  public void run(byte[] bytes) {
    Input input = new Input(bytes);
    int namenodes = 1 + input.below(16);
    byte[] path = input.rest();
    checkArrived(path, namenodes);
    String text = new String(path, StandardCharsets.UTF_8);
    try {
      Utf8 parsed = NodePath.parse(text);
      byte[] wire = parsed.toString().getBytes(StandardCharsets.UTF_8);
      Require.that(checkArrived(wire, namenodes), "the wire refuses what was parsed: " + parsed);
      Require.equal(parsed, NodePath.parse(parsed.toString()), "parsed twice");
      Utf8 plain = NodePath.parsePlain(text);
      Require.that(plain == null || plain.equals(parsed), "a plain path is another one");
      Require.equal(parsed, NodePath.parse("//" + text.replace("/", "///") + "/"), "slashes more");
    } catch (CrailException e) {
      Require.equal(ErrorCode.INVALID_PATH, e.code(), "refusal");
    }
  }

  /** True when a namenode accepts it. */
  private static boolean checkArrived(byte[] path, int namenodes) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(path.length).put(0, path);
    boolean right = true;
    try {
      NodePath.check(buffer, 0, path.length);
    } catch (CrailException e) {
      Require.equal(ErrorCode.INVALID_PATH, e.code(), "refusal");
      right = false;
    }
    Utf8 text = Utf8.copyOf(path, 0, path.length);
    int owner = NodePath.namenodeOf(text, namenodes);
    Require.that(owner >= 0 && owner < namenodes, "namenode " + owner);
    if (right) {
      try {
        Require.equal(text, NodePath.parse(text.toString()), "what is right is parsed to another");
      } catch (CrailException e) {
        throw new AssertionError("a user cannot write " + text, e);
      }
    }
    return right;
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
            "\1/",
            "\2/a/b",
            "\3a//b/",
            "\4/..",
            "\1/\u00e4/\u20ac",
            "\1/a?b",
            "\1/" + "x".repeat(256))
        .stream()
        .map(text -> text.getBytes(StandardCharsets.UTF_8))
        .toList();
  }
}
