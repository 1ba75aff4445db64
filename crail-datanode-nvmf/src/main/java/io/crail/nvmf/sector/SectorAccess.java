/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.sector;

import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeQueue;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes of bytes in one namespace, over one queue. Used only in the loop of the queue.
 *
 * <p>Whole sectors go straight between the user's memory and the device, in commands no longer than
 * the controller takes. The rest goes through staging memory:
 *
 * <ul>
 *   <li>A read of a part reads the sectors that it touches, and copies.
 *   <li>A write of a part of a sector reads the sector, changes it, and writes it. Writes to a
 *       sector that is being read or written wait, and then go together in its next write. So none
 *       is lost.
 *   <li>A write of a part and one of the whole sector wait for each other.
 * </ul>
 *
 * <p>A device writes a sector whole or not at all, so a reader sees each acknowledged byte while
 * its sector is written again. Only one client at a time may write to a sector.
 */
public final class SectorAccess {
  /** Bytes of one piece of staging memory: what a small read touches goes in one command. */
  static final int STAGED = 8192;

  private final NvmeQueue queue;
  private final NamespaceData namespace;
  private final int sector;
  private final int maxDirect;
  private final Runnable onRoom;
  private final ArrayDeque<ByteBuffer> staging = new ArrayDeque<>();
  private final ArrayDeque<SectorPiece> pieces = new ArrayDeque<>();
  private final List<SectorPiece> writing = new ArrayList<>();
  private final Map<Long, StagedSector> staged = new HashMap<>();
  private final ArrayDeque<StagedSector> unused = new ArrayDeque<>();

  /**
   * Creates the access.
   *
   * @param depth commands in flight, for which there is staging memory
   * @param maxTransfer the most bytes of a command, a multiple of 4096
   * @param onRoom runs after each command, for there may be room for more of a transfer
   */
  public SectorAccess(
      NvmeQueue queue, NamespaceData namespace, int depth, int maxTransfer, Runnable onRoom) {
    this.queue = queue;
    this.onRoom = onRoom;
    this.namespace = namespace;
    this.sector = namespace.blockLength();
    this.maxDirect = Math.max(sector, maxTransfer / sector * sector);
    int each = Math.max(STAGED, 2 * sector);
    ByteBuffer memory = ByteBuffer.allocateDirect(depth * each);
    for (int i = 0; i < depth; i++) {
      staging.add(memory.slice(i * each, each));
    }
  }

  /** Whether bytes lie within the namespace. */
  public boolean contains(long position, long length) {
    return position >= 0 && length >= 0 && position <= namespace.bytes() - length;
  }

  /**
   * Sends commands for as many bytes of a transfer as there is room for; {@link NvmeQueue#flush}
   * lets them leave. The transfer ends after the last one, maybe within this call of the last of
   * several.
   *
   * @return true when commands for all bytes were sent; otherwise the caller calls this again when
   *     there is room, unless the transfer has ended
   */
  public boolean begin(ByteTransfer transfer) {
    while (!transfer.isAllBegun()) {
      long position = transfer.position() + transfer.begun();
      int left = transfer.length() - transfer.begun();
      int within = (int) (position % sector);
      boolean whole = within == 0 && left >= sector;
      if (whole && !isSmall(transfer, within, left)) {
        int length = Math.min(left / sector * sector, maxDirect);
        if (!direct(transfer, position, length)) {
          return false;
        }
      } else if (transfer.isWrite()) {
        if (!change(transfer, position, Math.min(left, sector - within))) {
          return false;
        }
      } else if (!copied(transfer, position, within, left)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the rest of a read, which does not end with a sector, goes in one command. */
  private boolean isSmall(ByteTransfer transfer, int within, int left) {
    return !transfer.isWrite() && left % sector != 0 && within + left <= STAGED - sector;
  }

  private boolean direct(ByteTransfer transfer, long position, int length) {
    long first = position / sector;
    if (!queue.hasRoom() || transfer.isWrite() && isStaged(first, length / sector)) {
      return false;
    }
    SectorPiece piece = piece();
    piece.direct(transfer, first, length / sector, length);
    transfer.begin(length);
    if (transfer.isWrite()) {
      writing.add(piece);
    }
    queue.send(piece);
    return true;
  }

  /** Whether any of these sectors is being changed, so that a write of it has to wait. */
  private boolean isStaged(long first, int count) {
    return !staged.isEmpty()
        && staged.keySet().stream().anyMatch(s -> s >= first && s < first + count);
  }

  /** Whether a sector is being written whole, so that its bytes cannot be read and changed now. */
  private boolean isBeingWritten(long number) {
    for (int i = 0; i < writing.size(); i++) {
      if (writing.get(i).covers(number)) {
        return true;
      }
    }
    return false;
  }

  private boolean copied(ByteTransfer transfer, long position, int within, int left) {
    if (!queue.hasRoom()) {
      return false;
    }
    // Up to the end of a sector, or to the end of the read when that is near.
    int length = within + left <= Math.max(STAGED, sector) ? left : Math.min(left, sector - within);
    SectorPiece piece = piece();
    int sectors = (within + length + sector - 1) / sector;
    piece.copied(transfer, position / sector, sectors, within, length, staging.poll());
    transfer.begin(length);
    queue.send(piece);
    return true;
  }

  private boolean change(ByteTransfer transfer, long position, int length) {
    long number = position / sector;
    StagedSector present = staged.get(number);
    if (present == null) {
      if (!queue.hasRoom() || isBeingWritten(number)) {
        return false;
      }
      present =
          unused.isEmpty() ? new StagedSector(queue, namespace, onRoom, this::free) : unused.poll();
      present.load(number, staging.poll());
      staged.put(number, present);
      queue.send(present);
    }
    if (present.isFull()) {
      return false;
    }
    present.add(transfer, transfer.begun(), (int) (position % sector), length);
    transfer.begin(length);
    return true;
  }

  // For the commands.

  private SectorPiece piece() {
    return pieces.isEmpty() ? new SectorPiece(namespace, onRoom, this::free) : pieces.poll();
  }

  /** The number of the namespace. */
  public int namespace() {
    return namespace.number();
  }

  /** A command has ended, and will be used for other bytes. */
  private void free(SectorPiece piece, ByteBuffer memory) {
    pieces.push(piece);
    writing.remove(piece);
    if (memory != null) {
      staging.push(memory);
    }
  }

  /** A sector is not changed any more. */
  private void free(StagedSector ended, long number, ByteBuffer memory) {
    staged.remove(number);
    unused.push(ended);
    staging.push(memory);
  }
}
