/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.namenode.log.LogDirectory.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The part of a file of a log that is read now. Files are read from the first byte to the last, in
 * parts that are so small that the operating system reads the next ones ahead. For one thread.
 */
final class LogWindow {
  private static final int BYTES = 1 << 20;

  private ByteBuffer memory = ByteBuffer.allocate(BYTES);
  private LogFile file;
  private int length;
  private int begin;

  /** Begins to read a file. */
  void open(LogFile newFile) throws IOException {
    file = newFile;
    length = Math.toIntExact(file.length() / LogFrame.PAGE * LogFrame.PAGE);
    begin = 0;
    memory.limit(0);
  }

  /** Bytes of the whole pages of the file. */
  int length() {
    return length;
  }

  /** Some bytes that the file has, until the next call. */
  ByteBuffer at(int position, int bytes) throws IOException {
    if (position < begin || position + bytes > begin + memory.limit()) {
      if (memory.capacity() < bytes) {
        memory = ByteBuffer.allocate(bytes);
      }
      begin = position;
      memory.clear().limit(Math.min(memory.capacity(), length - position));
      file.read(memory, position);
      memory.flip();
    }
    return memory.slice(position - begin, bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
