/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;

/**
 * A number with bounds, in an attribute. {@code counter.add}, input {@code name delta least most}:
 * adds, and returns the sum; fails when it would be out of bounds. A missing node is made, and a
 * missing number is 0.
 */
final class CounterClass implements NodeClass {
  @Override
  public String name() {
    return "counter";
  }

  @Override
  public Decision call(String method, NodeView node, byte[] input, long nowMillis)
      throws CrailException {
    if (!method.equals("add")) {
      throw ErrorCode.UNSUPPORTED.exception("counter." + method);
    }
    Words words = Words.of(input);
    String name = words.text(0, "name");
    long present = Words.number(node.attribute(name), 0);
    long sum;
    try {
      sum = Math.addExact(present, words.number(1, "delta"));
    } catch (ArithmeticException e) {
      throw ErrorCode.OUT_OF_RANGE.exception("the sum is no 64-bit number");
    }
    if (sum < words.number(2, "least") || sum > words.number(3, "most")) {
      throw ErrorCode.CONDITION_FAILED.exception("out of bounds");
    }
    CompoundOperation.Builder steps = CompoundOperation.builder();
    if (!node.exists()) {
      steps.create();
    }
    byte[] value = Words.bytes(sum);
    return new Decision(steps.setAttribute(name, value).build(), value);
  }
}
