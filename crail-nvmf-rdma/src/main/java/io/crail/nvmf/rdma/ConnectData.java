/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import io.crail.nvmf.QueueId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private data of a connection's set-up, after the NVMe RDMA Transport Specification 1.0.
 * Little-endian.
 *
 * <pre>
 *   request, 32 bytes  0 format, u16, 0   2 queue, u16   4 host's receives, u16
 *                      6 host's sends less one, u16      8 controller, u16
 *   acceptance         0 format, u16, 0   2 target's receives, u16
 *   refusal            0 format, u16, 0   2 reason, u16
 * </pre>
 */
final class ConnectData {
  private static final int LENGTH = 32;
  private static final int FORMAT = 0;

  private static final String[] REASONS = {
    "",
    "wrong length of its private data",
    "unknown format of its private data",
    "no such queue",
    "wrong size of its send queue",
    "wrong size of its receive queue",
    "no resources",
    "wrong number of reads in progress",
    "wrong number of reads in progress",
    "no such controller"
  };

  private ConnectData() {}

  /**
   * The request for a queue.
   *
   * @param entries entries of the submission queue, and receives of the host
   */
  static ByteBuffer request(QueueId queue, int entries) {
    ByteBuffer data = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    data.putShort(0, (short) FORMAT);
    data.putShort(2, (short) queue.number());
    data.putShort(4, (short) entries);
    data.putShort(6, (short) (entries - 1));
    data.putShort(8, (short) (queue.number() == 0 ? 0 : queue.controller()));
    return data;
  }

  /** The receives of a target that has accepted; 0 when it is no target. */
  static int receives(ByteBuffer data) {
    return second(data);
  }

  /** The second number of an answer; 0 when it has another format. */
  private static int second(ByteBuffer data) {
    if (data == null || data.remaining() < 4) {
      return 0;
    }
    ByteBuffer in = data.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int at = in.position();
    return in.getShort(at) == FORMAT ? in.getShort(at + 2) & 0xffff : 0;
  }

  /**
   * Why a target has refused.
   *
   * @param data what it sent along; null for none
   * @param otherwise the answer when it does not say
   */
  static String refusal(ByteBuffer data, String otherwise) {
    int reason = second(data);
    if (reason == 0) {
      return otherwise;
    }
    return "the target refuses the connection: "
        + (reason < REASONS.length ? REASONS[reason] : "reason " + reason);
  }
}
