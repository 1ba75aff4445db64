/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.NativeMemory;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;

/**
 * The writes that are under way, with their places: memory that all writers of a datanode's regions
 * share, which are the datanode's own threads and the processes of its host that map the regions.
 * These are hazard pointers (M. Michael, 2004), with ranges of bytes in place of pointers.
 *
 * <p>A thread may be stopped at any place, for any time, even between its check of the generation
 * and its last byte. No clock helps against that. So a writer announces what it is about to write,
 * then checks the generation, copies, and retracts. A later owner of the space first raises the
 * generation and then looks for older announcements. So one of the two sees the other. Space that
 * an older writer still holds is given up, and the later owner asks for other space.
 *
 * <pre>
 * offset
 *  0      i64  number of slots that were ever claimed
 *  64     slot 0, slot 1, ... one to a cache line:
 *    +0   i64  owner, 0 for none
 *    +8   i64  generation + 1 of a write; a negative number of the owner's while there is none
 *    +16  i64  what it writes: region (16 bits), first unit (24), units (24); 0 for none
 *    +24  i64  1 when the owner must not write any more
 * </pre>
 *
 * <p>Units are those of {@link GenerationTable}. All numbers are little-endian. Thread-safe, and
 * safe between processes that map the same file. Only {@link #claim} waits or allocates.
 */
public final class HazardTable {
  /** The most writes under way at a time. A writer that finds no slot goes over the network. */
  static final int SLOTS = 4096;

  static final String FILE = "hazards";

  /** Owner of the slots of the datanode's own threads. Owners of other processes are random. */
  public static final long OWN_THREADS = 1;

  private static final int SLOT_LENGTH = 64;

  /** Bytes of the table. */
  static final int LENGTH = SLOT_LENGTH * (1 + SLOTS);

  private static final int MOST_LOOKS = 1000;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final NativeMemory mapping;
  private final ByteBuffer memory;

  private HazardTable(NativeMemory mapping) {
    this.mapping = mapping;
    this.memory = mapping.buffer();
  }

  /** Creates the table of a datanode whose regions no other process maps. */
  public static HazardTable anonymous() {
    return new HazardTable(NativeMemory.allocate(LENGTH));
  }

  /** Creates the file in a datanode's directory; its memory is taken at once. */
  static HazardTable create(SafeDirectory directory) throws IOException {
    directory.write(FILE, new byte[LENGTH]);
    return open(directory);
  }

  /** Maps the file of a datanode. */
  static HazardTable open(Path directory) throws IOException {
    return Uninterrupted.run(
        () -> {
          try (SafeDirectory files = SafeDirectory.ofUser(directory)) {
            return open(files);
          }
        });
  }

  static HazardTable open(SafeDirectory directory) throws IOException {
    try (FileChannel channel =
        directory.open(FILE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() != LENGTH) {
        throw new IOException(directory.path().resolve(FILE) + " has " + channel.size() + " bytes");
      }
      return new HazardTable(NativeMemory.map(channel, LENGTH));
    }
  }

  /** Ends the use of the memory, which no thread uses any more. */
  void unmap() {
    mapping.free();
  }

  /**
   * Takes a slot.
   *
   * @param owner the owner of the slot; not 0
   * @return null when all are taken
   */
  public Hazard claim(long owner) {
    for (int slot = 0; slot < SLOTS; slot++) {
      if (owner(slot) == 0) {
        // Counted before it is taken: a process that is killed here leaves no slot that is never
        // checked.
        count(slot + 1);
        Hazard hazard = Hazard.claim(memory, at(slot), owner);
        if (hazard != null) {
          return hazard;
        }
      }
    }
    return null;
  }

  private void count(int slots) {
    long present = (long) WORD.getVolatile(memory, 0);
    while (present < slots && !WORD.compareAndSet(memory, 0, present, (long) slots)) {
      present = (long) WORD.getVolatile(memory, 0);
    }
  }

  /**
   * True when a writer of an older generation is in the middle of a write to a range. The caller
   * has raised the generations of the range before, with only a full fence in between.
   */
  boolean isHeld(int region, int offset, int length, long generation) {
    int first = Hazard.unit(offset);
    int end = Hazard.unit(offset + length - 1) + 1;
    int slots = slots();
    for (int slot = 0; slot < slots; slot++) {
      int at = at(slot);
      long piece = (long) WORD.getAcquire(memory, at + Hazard.PIECE);
      for (int look = 0; piece != 0 && Hazard.overlaps(piece, region, first, end); look++) {
        long writing = (long) WORD.getAcquire(memory, at + Hazard.GENERATION);
        long again = (long) WORD.getAcquire(memory, at + Hazard.PIECE);
        if (again == piece && writing > generation) {
          break;
        }
        // A slot without a generation is between two writes, and will soon be in one of them.
        if ((again == piece && writing > 0) || look >= MOST_LOOKS) {
          return true;
        }
        piece = again;
      }
    }
    return false;
  }

  /**
   * Clears the slots that an owner's process has left. For the datanode, after that process has
   * ended.
   */
  void clear(long owner) {
    int slots = slots();
    for (int slot = 0; slot < slots; slot++) {
      if (owner(slot) == owner) {
        Hazard.release(memory, at(slot));
      }
    }
  }

  /**
   * Stops an owner from writing. The owner checks the first of its slots after each announcement,
   * also for slots that it claims later, and takes the announcement back.
   */
  void revoke(long owner) {
    int slots = slots();
    for (int slot = 0; slot < slots; slot++) {
      if (owner(slot) == owner) {
        WORD.setVolatile(memory, at(slot) + Hazard.REVOKED, 1L);
      }
    }
    VarHandle.fullFence();
  }

  /** The owners of slots. */
  Set<Long> owners() {
    Set<Long> owners = new HashSet<>();
    int slots = slots();
    for (int slot = 0; slot < slots; slot++) {
      owners.add(owner(slot));
    }
    owners.remove(0L);
    return owners;
  }

  /** True when no write is under way. */
  boolean isQuiet() {
    int slots = slots();
    for (int slot = 0; slot < slots; slot++) {
      if (owner(slot) != 0 && piece(slot) != 0) {
        return false;
      }
    }
    return true;
  }

  /** True when no write of an owner is under way. */
  boolean isIdle(long owner) {
    int slots = slots();
    for (int slot = 0; slot < slots; slot++) {
      if (owner(slot) == owner && piece(slot) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Slots that were ever claimed. */
  int slots() {
    return (int) Math.min(SLOTS, Math.max(0, (long) WORD.getAcquire(memory, 0)));
  }

  /** The owner of a slot, 0 for none. */
  long owner(int slot) {
    return (long) WORD.getAcquire(memory, at(slot) + Hazard.OWNER);
  }

  /** The piece that a slot announces, 0 for none. */
  long piece(int slot) {
    return (long) WORD.getAcquire(memory, at(slot) + Hazard.PIECE);
  }

  private static int at(int slot) {
    return SLOT_LENGTH * (1 + slot);
  }
}
