/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.network;

import io.crail.common.error.ErrorCode;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;

/**
 * A transfer of heap memory over a network, which takes direct memory only. This happens rarely:
 * when bytes that were to be copied within this host have to go over the network instead. So each
 * transfer allocates its direct memory, and leaves it to the collector.
 */
final class CopiedTransfer extends Transfer {
  private final Transfer original;
  private final boolean write;

  private CopiedTransfer(Transfer original, boolean write) {
    this.original = original;
    this.write = write;
  }

  /** Begins a transfer in place of one of heap memory, which ends with it. */
  static void begin(StorageEndpoint endpoint, Transfer original, boolean write) {
    ByteBuffer direct;
    try {
      direct = ByteBuffer.allocateDirect(original.length());
    } catch (OutOfMemoryError e) {
      original.end(
          ErrorCode.LIMIT_EXCEEDED.exception(
              "no direct memory for a copy of " + original.length() + " bytes"));
      return;
    }
    CopiedTransfer copied = new CopiedTransfer(original, write);
    copied.prepare(
        direct,
        0,
        original.length(),
        original.extent(),
        original.extentOffset(),
        original.deadlineNanos());
    if (write) {
      direct.put(0, original.view().clear(), original.bufferOffset(), original.length());
      endpoint.write(copied);
    } else {
      endpoint.read(copied);
    }
  }

  @Override
  public long deadlineNanos() {
    return original.deadlineNanos();
  }

  @Override
  protected void completed() {
    if (failure() != null) {
      original.end(failure());
      return;
    }
    if (!write) {
      original.view().clear().put(original.bufferOffset(), buffer(), 0, length());
    }
    original.end();
  }
}
