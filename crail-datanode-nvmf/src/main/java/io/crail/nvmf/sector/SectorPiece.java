/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.sector;

import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import java.nio.ByteBuffer;

/**
 * A command that moves bytes of one transfer: whole sectors straight between device and user's
 * memory, or sectors that a read touches into staging memory, from which its bytes are copied.
 */
final class SectorPiece extends NvmeRequest {
  /** Takes back a command that has ended, and its staging memory or null. */
  interface Pool {
    void free(SectorPiece piece, ByteBuffer memory);
  }

  private final NamespaceData namespace;
  private final Runnable onRoom;
  private final Pool pool;
  private ByteTransfer transfer;
  private long first;
  private int count;
  private int target;
  private int within;
  private int wanted;

  /** The staging memory of a copying read, or null. */
  private ByteBuffer memory;

  /**
   * Creates a command without bytes.
   *
   * @param onRoom runs after the end of each use, when its transfer knows
   */
  SectorPiece(NamespaceData namespace, Runnable onRoom, Pool pool) {
    this.namespace = namespace;
    this.onRoom = onRoom;
    this.pool = pool;
  }

  void direct(ByteTransfer newTransfer, long newFirst, int newCount, int length) {
    transfer = newTransfer;
    first = newFirst;
    count = newCount;
    memory = null;
    data(
        newTransfer.isWrite() ? Direction.TO_CONTROLLER : Direction.TO_HOST,
        newTransfer.root(),
        newTransfer.viewFor(length),
        newTransfer.offset() + newTransfer.begun(),
        length);
  }

  void copied(
      ByteTransfer newTransfer,
      long newFirst,
      int newCount,
      int newWithin,
      int length,
      ByteBuffer newMemory) {
    transfer = newTransfer;
    first = newFirst;
    count = newCount;
    within = newWithin;
    wanted = length;
    target = newTransfer.offset() + newTransfer.begun();
    memory = newMemory;
    data(Direction.TO_HOST, newMemory, newMemory, 0, newCount * namespace.blockLength());
  }

  /** Whether the sectors of this include one. */
  boolean covers(long sector) {
    return sector >= first && sector < first + count;
  }

  @Override
  public void encode(ByteBuffer out, int at) {
    if (direction() == Direction.TO_CONTROLLER) {
      NvmeCommand.write(out, at, namespace.number(), first, count);
    } else {
      NvmeCommand.read(out, at, namespace.number(), first, count);
    }
  }

  @Override
  public void ended(int status, long result) {
    ByteTransfer done = transfer;
    if (memory != null && status == NvmeStatus.OK && !done.isGivenUp()) {
      done.copied().put(target, memory, within, wanted);
    }
    release();
    done.pieceEnded(status);
    onRoom.run();
  }

  @Override
  public void lost(String cause) {
    ByteTransfer done = transfer;
    release();
    done.pieceLost(cause);
  }

  private void release() {
    ByteBuffer staged = memory;
    memory = null;
    transfer = null;
    data(Direction.NONE, null, null, 0, 0);
    pool.free(this, staged);
  }

  @Override
  public boolean isGivenUp() {
    // Staging memory is this side's own.
    return memory == null && transfer.isGivenUp();
  }
}
