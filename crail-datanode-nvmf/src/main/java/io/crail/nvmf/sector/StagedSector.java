/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.sector;

import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A sector of which parts are being written, and the command for it that is in flight: first a
 * read, then writes until no changes wait. A change is applied when no command is in flight, and
 * ends with the write that took it along.
 */
final class StagedSector extends NvmeRequest {
  /** Bytes of a transfer that belong into the sector. */
  private record Change(ByteTransfer transfer, int begun, int within, int length) {}

  /** Takes back a sector that is not changed any more, and its staging memory. */
  interface Pool {
    void free(StagedSector ended, long number, ByteBuffer memory);
  }

  /** Changes of one sector that wait for its next write. */
  private static final int MOST_WAITING = 1024;

  private final NvmeQueue queue;
  private final NamespaceData namespace;
  private final Runnable onRoom;
  private final Pool pool;
  private List<Change> waiting = new ArrayList<>();
  private List<Change> leaving = new ArrayList<>();
  private List<Change> spare = new ArrayList<>();
  private long number;
  private ByteBuffer memory;

  /**
   * Creates a command without a sector.
   *
   * @param onRoom runs after each command, when its transfers know
   */
  StagedSector(NvmeQueue queue, NamespaceData namespace, Runnable onRoom, Pool pool) {
    this.queue = queue;
    this.namespace = namespace;
    this.onRoom = onRoom;
    this.pool = pool;
  }

  /** Becomes the read of a sector. */
  void load(long newNumber, ByteBuffer newMemory) {
    number = newNumber;
    memory = newMemory;
    data(Direction.TO_HOST, newMemory, newMemory, 0, namespace.blockLength());
  }

  /**
   * Adds a change.
   *
   * @param begun the first byte in the transfer
   * @param within the first byte in the sector
   */
  void add(ByteTransfer transfer, int begun, int within, int length) {
    waiting.add(new Change(transfer, begun, within, length));
  }

  /** True when no more changes may wait. */
  boolean isFull() {
    return waiting.size() >= MOST_WAITING;
  }

  @Override
  public void encode(ByteBuffer out, int at) {
    if (direction() == Direction.TO_CONTROLLER) {
      NvmeCommand.write(out, at, namespace.number(), number, 1);
    } else {
      NvmeCommand.read(out, at, namespace.number(), number, 1);
    }
  }

  @Override
  public void ended(int status, long result) {
    if (status != NvmeStatus.OK) {
      List<Change> failed = all();
      release();
      failed.forEach(change -> change.transfer().pieceEnded(status));
    } else {
      succeeded();
    }
    onRoom.run();
  }

  private void succeeded() {
    List<Change> done = leaving;
    leaving = spare;
    if (waiting.isEmpty()) {
      release();
    } else {
      List<Change> empty = leaving;
      leaving = waiting;
      waiting = empty;
      write();
    }
    // Owners may begin other writes now, also to this sector.
    for (int i = 0; i < done.size(); i++) {
      done.get(i).transfer().pieceEnded(NvmeStatus.OK);
    }
    done.clear();
    spare = done;
  }

  /** Writes the sector with the changes. The command that has ended has left room for this one. */
  private void write() {
    for (Change change : leaving) {
      ByteTransfer transfer = change.transfer();
      memory.put(
          change.within(), transfer.copied(), transfer.offset() + change.begun(), change.length());
    }
    data(Direction.TO_CONTROLLER, memory, memory, 0, namespace.blockLength());
    queue.send(this);
    queue.flush();
  }

  @Override
  public void lost(String cause) {
    List<Change> lost = all();
    release();
    lost.forEach(change -> change.transfer().pieceLost(cause));
  }

  private List<Change> all() {
    List<Change> all = new ArrayList<>(leaving);
    all.addAll(waiting);
    leaving = new ArrayList<>();
    waiting = new ArrayList<>();
    return all;
  }

  private void release() {
    ByteBuffer freed = memory;
    memory = null;
    data(Direction.NONE, null, null, 0, 0);
    pool.free(this, number, freed);
  }
}
