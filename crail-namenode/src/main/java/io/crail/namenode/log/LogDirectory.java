/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/**
 * Where a namenode keeps its log: one directory, which belongs to one process as long as it is
 * open. What was written is durable when it was forced, and not before; the log relies on nothing
 * else that a file system may promise. Not thread-safe.
 */
public interface LogDirectory extends Closeable {
  /** The names of all files, in the order of the names. */
  List<String> names() throws IOException;

  /**
   * Creates a file of zeros. When this returns, its name and its length are durable, so that no
   * write to it needs space that is not there.
   *
   * @param bytes its length; with 0 it grows as it is written, as long as there is space
   */
  LogFile create(String name, long bytes) throws IOException;

  /** Opens a file. */
  LogFile open(String name) throws IOException;

  /** Deletes a file, if it is there. */
  void delete(String name) throws IOException;

  /**
   * Gives a file another name, in place of a file that has it. Whole or not at all, and durable.
   */
  void rename(String name, String newName) throws IOException;

  /**
   * Whether it has a copy of what the peers of a namenode have agreed on, whose end may be missing:
   * the peers know what it is. Else it has all that its namenode has acknowledged.
   */
  default boolean isCopy() throws IOException {
    return false;
  }

  /** Says durably whether it has such a copy. */
  default void markCopy(boolean isCopy) throws IOException {
    if (isCopy) {
      throw new UnsupportedOperationException();
    }
  }

  /** Lets other processes use the directory. */
  @Override
  void close() throws IOException;

  /** A file. One thread at a time uses it, but for {@link #commit}. */
  interface LogFile extends Closeable {
    /** Its length in bytes. */
    long length() throws IOException;

    /** Reads until the buffer is full, or the file ends. */
    void read(ByteBuffer into, long position) throws IOException;

    /** Writes all of a buffer. */
    void write(ByteBuffer from, long position) throws IOException;

    /**
     * Writes whole pages of {@link LogFrame#PAGE} bytes, at a multiple of that, and makes them
     * durable. Several may be under way, by any threads, and end in any order.
     *
     * @param from of {@link LogFrame#memory}; not used by others before the end
     * @param done called once, in any thread: with null when all is durable; else with the problem,
     *     after which nothing is known of what was written
     */
    void commit(ByteBuffer from, long position, Consumer<IOException> done);

    /** Makes durable what was written. After an error nothing is known of what was. */
    void force() throws IOException;

    @Override
    void close() throws IOException;
  }
}
