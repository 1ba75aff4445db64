/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;

/**
 * Versions that programs give themselves: a tag, such as the name of a run, and a number. They are
 * in the attributes {@code tag.name} and {@code tag.number}.
 *
 * <ul>
 *   <li>{@code tag.require}, input {@code tag number}: fails unless the node has that tag and at
 *       least that number.
 *   <li>{@code tag.advance}, input {@code tag}: adds 1 to the number, which begins at 1 with each
 *       new tag, and returns it. A missing node is made.
 * </ul>
 */
final class TagClass implements NodeClass {
  private static final String NAME = "tag.name";
  private static final String NUMBER = "tag.number";

  @Override
  public String name() {
    return "tag";
  }

  @Override
  public Decision call(String method, NodeView node, byte[] input, long nowMillis)
      throws CrailException {
    Words words = Words.of(input);
    String tag = words.text(0, "tag");
    boolean isSame = tag.equals(Words.text(node.attribute(NAME)));
    long number = isSame ? Words.number(node.attribute(NUMBER), 0) : 0;
    CompoundOperation.Builder steps = CompoundOperation.builder();
    switch (method) {
      case "require" -> {
        if (!isSame || number < words.number(1, "number")) {
          throw ErrorCode.CONDITION_FAILED.exception("another tag, or an older one");
        }
        return new Decision(steps.build(), Words.bytes(number));
      }
      case "advance" -> {
        if (!node.exists()) {
          steps.create();
        }
        byte[] next = Words.bytes(number + 1);
        steps.setAttribute(NAME, Words.bytes(tag)).setAttribute(NUMBER, next);
        return new Decision(steps.build(), next);
      }
      default -> throw ErrorCode.UNSUPPORTED.exception("tag." + method);
    }
  }
}
