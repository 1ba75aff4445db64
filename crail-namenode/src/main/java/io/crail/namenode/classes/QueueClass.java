/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A queue of entries in the bytes of the node: each has its length, 4 bytes, little-endian, and its
 * bytes. The attribute {@code queue.head} is the position of the first; up to half of the bytes are
 * of entries that are gone.
 *
 * <ul>
 *   <li>{@code queue.push}: adds the input at the end. A missing node is made.
 *   <li>{@code queue.pop}: removes the first entry and returns it; fails when there is none.
 *   <li>{@code queue.peek}: returns the first entry; fails when there is none.
 * </ul>
 */
final class QueueClass implements NodeClass {
  private static final String HEAD = "queue.head";

  @Override
  public String name() {
    return "queue";
  }

  @Override
  public Decision call(String method, NodeView node, byte[] input, long nowMillis)
      throws CrailException {
    CompoundOperation.Builder steps = CompoundOperation.builder();
    switch (method) {
      case "push" -> {
        if (!node.exists()) {
          steps.create();
        }
        ByteBuffer entry =
            ByteBuffer.allocate(Integer.BYTES + input.length).order(ByteOrder.LITTLE_ENDIAN);
        entry.putInt(input.length).put(input);
        return new Decision(steps.append(entry.array()).build(), Words.NONE);
      }
      case "peek", "pop" -> {
        long head = Words.number(node.attribute(HEAD), 0);
        byte[] entry = entryAt(node, head);
        if (method.equals("pop")) {
          advance(steps, node, head + Integer.BYTES + entry.length);
        }
        return new Decision(steps.build(), entry);
      }
      default -> throw ErrorCode.UNSUPPORTED.exception("queue." + method);
    }
  }

  private static byte[] entryAt(NodeView node, long head) throws CrailException {
    byte[] length = node.read(head, Integer.BYTES);
    if (length.length == 0) {
      throw ErrorCode.CONDITION_FAILED.exception("the queue is empty");
    }
    int bytes =
        length.length < Integer.BYTES
            ? -1
            : ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (bytes < 0 || head + Integer.BYTES + bytes > node.size()) {
      throw ErrorCode.INVALID_ARGUMENT.exception("the bytes are no queue");
    }
    return node.read(head + Integer.BYTES, bytes);
  }

  private static void advance(CompoundOperation.Builder steps, NodeView node, long head)
      throws CrailException {
    // When half of the bytes are of entries that are gone, the others move to the front.
    if (head >= node.size() - head) {
      steps.writeFull(node.read(head, (int) (node.size() - head))).removeAttribute(HEAD);
    } else {
      steps.setAttribute(HEAD, Words.bytes(head));
    }
  }
}
