/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import java.nio.charset.StandardCharsets;

/**
 * A lock that ends by itself when its owner does not renew it. It is in attributes of the node:
 * {@code lock.owner}, {@code lock.until} (milliseconds since 1970 by the namenode's clock), and
 * {@code lock.token}, which is higher with each owner as long as the node is there, and can guard
 * what owners do.
 *
 * <ul>
 *   <li>{@code lock.acquire}, input {@code owner millis}: takes or renews it, and returns the
 *       token. A missing node is made.
 *   <li>{@code lock.require}, input {@code owner}: fails unless the owner has it.
 *   <li>{@code lock.release}, input {@code owner}: ends it, if the owner has it.
 * </ul>
 */
final class LockClass implements NodeClass {
  private static final String OWNER = "lock.owner";
  private static final String UNTIL = "lock.until";
  private static final String TOKEN = "lock.token";

  @Override
  public String name() {
    return "lock";
  }

  @Override
  public Decision call(String method, NodeView node, byte[] input, long nowMillis)
      throws CrailException {
    Words words = Words.of(input);
    String owner = words.text(0, "owner");
    String present = Words.text(node.attribute(OWNER));
    boolean isHeld = present != null && Words.number(node.attribute(UNTIL), 0) > nowMillis;
    boolean isOwn = isHeld && present.equals(owner);
    CompoundOperation.Builder steps = CompoundOperation.builder();
    switch (method) {
      case "acquire" -> {
        if (isHeld && !isOwn) {
          throw ErrorCode.CONDITION_FAILED.exception("held by another owner");
        }
        long millis = words.positive(1, "milliseconds");
        if (!node.exists()) {
          steps.create();
        }
        long token = Words.number(node.attribute(TOKEN), 0) + (isOwn ? 0 : 1);
        steps.setAttribute(OWNER, owner.getBytes(StandardCharsets.UTF_8));
        steps.setAttribute(UNTIL, Words.bytes(Math.addExact(nowMillis, millis)));
        steps.setAttribute(TOKEN, Words.bytes(token));
        return new Decision(steps.build(), Words.bytes(token));
      }
      case "require" -> {
        requireOwn(isOwn);
        return new Decision(steps.build(), Words.bytes(Words.number(node.attribute(TOKEN), 0)));
      }
      case "release" -> {
        requireOwn(isOwn);
        steps.removeAttribute(OWNER).removeAttribute(UNTIL);
        return new Decision(steps.build(), Words.NONE);
      }
      default -> throw ErrorCode.UNSUPPORTED.exception("lock." + method);
    }
  }

  private static void requireOwn(boolean isOwn) throws CrailException {
    if (!isOwn) {
      throw ErrorCode.CONDITION_FAILED.exception("not held by this owner");
    }
  }
}
