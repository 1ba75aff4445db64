/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A mapped file with the state of all names of a test and some counters. All processes of the test
 * see it. It survives when a process is killed at any instruction, so the next owner of its names
 * knows what the process had begun. One process writes to a name; all may read it. Thread-safe.
 *
 * <pre>
 *  4096 bytes: counters, what a crash may lose, last kills of namenodes, clients that are to write, clients that are stopped, workers that write;
 *  then for each name:
 *  | versions (8) ... (64) | state of even versions | state of odd versions |
 * </pre>
 */
public final class Board {
  private static final int HEADER = 4096;
  private static final int WINDOW_AT = 512;
  private static final int KILLS_AT = 520;
  private static final int WANTED_AT = 1024;
  private static final int STANDING_AT = 1536;
  private static final int BUSY_AT = 2048;
  private static final int MOST_WORKERS = (HEADER - BUSY_AT) / Long.BYTES;
  private static final int VERSION_LENGTH = 64;
  private static final int STATE_LENGTH = NameState.MAX_LONGS * Long.BYTES;
  private static final int RECORD = VERSION_LENGTH + 2 * STATE_LENGTH;
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Counters of the whole test. */
  public enum Counter {
    /** Counts the times at which all operations that began before the previous count had ended. */
    QUIET,
    /** 1 when the clients should finish. */
    FINISH,
    /** How many faults hold requests back at present. */
    HOLDS,
    /** How often datanodes have lost their bytes. */
    DATANODE_LOSS,
    /** The {@link Life} of the shared directory. */
    DIRECTORY_LIFE,
    /** The {@link Life} of the shared table. */
    TABLE_LIFE,
    /**
     * How often the first namenode has lost its nodes. The counters of the other namenodes follow.
     */
    NAMENODE_LOSS
  }

  private final ByteBuffer memory;
  private final int names;

  private Board(ByteBuffer memory, int names) {
    this.memory = memory.order(ByteOrder.LITTLE_ENDIAN);
    this.names = names;
  }

  /** Creates the file. */
  public static Board create(Path file, int names) throws IOException {
    Board board = map(file, names, StandardOpenOption.CREATE_NEW);
    for (int i = 0; i < names; i++) {
      board.write(i, NameState.NEW);
    }
    return board;
  }

  /** Maps a file that another process has created. */
  public static Board open(Path file, int names) throws IOException {
    return map(file, names, StandardOpenOption.READ);
  }

  private static Board map(Path file, int names, StandardOpenOption option) throws IOException {
    if (names / ModelNames.PER_CONTAINER > MOST_WORKERS) {
      throw new IllegalArgumentException("too many names: " + names);
    }
    long length = HEADER + (long) names * RECORD;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, option)) {
      return new Board(channel.map(FileChannel.MapMode.READ_WRITE, 0, length), names);
    }
  }

  /** The number of names. */
  public int names() {
    return names;
  }

  /** The value of a counter. */
  public long get(Counter counter) {
    return get(counter, 0);
  }

  /** The value of one of several counters of a kind. */
  public long get(Counter counter, int index) {
    return (long) LONG.getAcquire(memory, (counter.ordinal() + index) * Long.BYTES);
  }

  /** Adds one to a counter. */
  public void increment(Counter counter, int index) {
    add(counter, index, 1);
  }

  /** Adds to a counter. */
  public void add(Counter counter, int index, long count) {
    LONG.getAndAdd(memory, (counter.ordinal() + index) * Long.BYTES, count);
  }

  /** Sets how long before a kill a change may have been made that is lost; 0 if all is lost. */
  public void window(long millis) {
    LONG.setRelease(memory, WINDOW_AT, millis);
  }

  /** How long before a kill a change may have been made that is lost; 0 if all is lost. */
  public long window() {
    return (long) LONG.getAcquire(memory, WINDOW_AT);
  }

  /** Notes when a namenode was killed last, in milliseconds since 1970. */
  public void killed(int namenode, long millis) {
    LONG.setRelease(memory, KILLS_AT + namenode * Long.BYTES, millis);
  }

  /** When a namenode was killed last. */
  public long killMillis(int namenode) {
    return (long) LONG.getAcquire(memory, KILLS_AT + namenode * Long.BYTES);
  }

  /** The life of a shared container. */
  public Life life(ModelNames.Container kind) {
    return new Life(get(lifeOf(kind)));
  }

  /** A shared container comes to a phase of its life. Its owner calls it. */
  public void enter(ModelNames.Container kind, Life.Phase phase) {
    Life now = life(kind);
    add(lifeOf(kind), 0, now.next(phase).number() - now.number());
  }

  private static Counter lifeOf(ModelNames.Container kind) {
    return kind.isTable() ? Counter.TABLE_LIFE : Counter.DIRECTORY_LIFE;
  }

  /** Sets whether a client is to write large pieces, so that it can be stopped in one. */
  public void want(int client, boolean isWanted) {
    LONG.setRelease(memory, WANTED_AT + client * Long.BYTES, isWanted ? 1L : 0L);
  }

  /** True when a client is to write large pieces. */
  public boolean isWanted(int client) {
    return (long) LONG.getAcquire(memory, WANTED_AT + client * Long.BYTES) != 0;
  }

  /** Sets whether a client is stopped in the middle of a large write. */
  public void stand(int client, boolean stands) {
    LONG.setRelease(memory, STANDING_AT + client * Long.BYTES, stands ? 1L : 0L);
  }

  /** True when a client is stopped in the middle of a large write. */
  public boolean stands(int client) {
    return (long) LONG.getAcquire(memory, STANDING_AT + client * Long.BYTES) != 0;
  }

  /** Notes whether a worker is in the middle of a large write. */
  public void busy(int worker, boolean isBusy) {
    LONG.setRelease(memory, BUSY_AT + worker * Long.BYTES, isBusy ? 1L : 0L);
  }

  /** True when a worker is in the middle of a large write, or was when its process ended. */
  public boolean isBusy(int worker) {
    return (long) LONG.getAcquire(memory, BUSY_AT + worker * Long.BYTES) != 0;
  }

  /** How often the state of a name was written. */
  public long version(int name) {
    return (long) LONG.getAcquire(memory, HEADER + name * RECORD);
  }

  /** The state of a name that was written last. */
  public NameState read(int name) {
    while (true) {
      long version = version(name);
      byte[] bytes = new byte[STATE_LENGTH];
      memory.get(stateAt(name, version), bytes);
      VarHandle.acquireFence();
      // The previous version stays unchanged while the next one is written.
      if (version(name) == version) {
        return NameState.decode(
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer());
      }
    }
  }

  /** Writes the state of a name. A kill leaves either the old or the new state. */
  public void write(int name, NameState state) {
    long next = version(name) + 1;
    LongBuffer target =
        memory
            .slice(stateAt(name, next), STATE_LENGTH)
            .order(ByteOrder.LITTLE_ENDIAN)
            .asLongBuffer();
    state.encode(target);
    LONG.setRelease(memory, HEADER + name * RECORD, next);
  }

  private static int stateAt(int name, long version) {
    return HEADER + name * RECORD + VERSION_LENGTH + (int) (version & 1) * STATE_LENGTH;
  }
}
