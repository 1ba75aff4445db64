/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts what a loss of power has left half written at the end of Ratis' log: Ratis itself does not
 * start then, since the rest of the file has zeros that were written ahead. What was torn was never
 * acknowledged by this peer. Entries that are forced together may be written in any order. If whole
 * entries follow that were written later, it is damage, and what this peer has acknowledged may be
 * missing; such a peer must not vote.
 *
 * <pre>
 *   8 bytes "RaftLog1", and for each entry
 *     a varint  bytes of the entry
 *     an entry  as a message of protocol buffers, which begins with its term and its index
 *     i32       CRC-32C of both, big-endian
 *   zeros
 * </pre>
 */
final class TornLog {
  private static final Logger LOG = LoggerFactory.getLogger(TornLog.class);

  /** Entries that may be written before the first of them is durable, in any order. */
  static final int MOST_UNFORCED = 16;

  private static final int HEADER = 8;
  private static final int OF_CHECKSUM = Integer.BYTES;
  private static final int TERM = 1 << 3;
  private static final int INDEX = 2 << 3;
  private static final int RECORDS = 3 << 3 | 2;
  private static final int CONFIGURATION = 4 << 3 | 2;
  private static final int METADATA = 5 << 3 | 2;

  private final Path file;
  private final ByteBuffer bytes;
  private long lastIndex = -1;

  /** Where the varint ends that was read last; below 0 if it did not end. */
  private int varintEnd;

  private TornLog(Path file, ByteBuffer bytes) {
    this.file = file;
    this.bytes = bytes;
  }

  /**
   * Requires that there is something of which there is a copy: what is agreed on is in Ratis' log
   * before it is in the copy.
   *
   * @param last the number of the last record in the copy
   * @throws IOException that names the directory if all has gone
   */
  static void requireEntries(Path directory, long last) throws IOException {
    if (last > 0
        && filesOf(directory, "log_").isEmpty()
        && filesOf(directory, "snapshot.").isEmpty()) {
      throw new IOException(directory + " has lost the entries of " + last + " records");
    }
  }

  private static List<Path> filesOf(Path directory, String begin) throws IOException {
    try (Stream<Path> files = Files.walk(directory, 3)) {
      return files.filter(file -> file.getFileName().toString().startsWith(begin)).toList();
    }
  }

  /**
   * Cuts the log in a directory of Ratis.
   *
   * @throws IOException that names the file if it is damaged
   */
  static void cut(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    for (Path file : filesOf(directory, "log_inprogress_")) {
      cutFile(file);
    }
  }

  private static void cutFile(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
      while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) >= 0) {
        // Until all is there.
      }
      int length = bytes.position();
      int end = new TornLog(file, bytes.flip()).end();
      if (end < length) {
        channel.truncate(end);
        channel.force(true);
      }
    }
  }

  /** Where the whole entries end. */
  private int end() throws IOException {
    int at = Math.min(HEADER, bytes.limit());
    int next = entryEnd(at);
    while (next > 0) {
      at = next;
      next = entryEnd(at);
    }
    int torn = bytes.limit();
    while (torn > at && bytes.get(torn - 1) == 0) {
      torn--;
    }
    if (torn == at) {
      return bytes.limit();
    }
    long last = lastIndex;
    for (int later = at + 1; later < torn; later++) {
      if (entryEnd(later) > 0 && lastIndex > last + MOST_UNFORCED) {
        throw new IOException(
            file
                + " is damaged at byte "
                + at
                + ": a whole entry follows at byte "
                + later
                + "; this peer may lack what it has confirmed, and must not take part");
      }
    }
    LOG.warn("{}: {} bytes at the end were not whole, and are dropped", file, torn - at);
    return at;
  }

  /** Where the whole entry ends that begins at a place; 0 if there is none. Notes its index. */
  private int entryEnd(int at) {
    long length = varint(at);
    int body = varintEnd;
    if (body < 0 || length <= 0 || length > bytes.limit() - body - OF_CHECKSUM) {
      return 0;
    }
    long index = index(body);
    int end = body + (int) length;
    if (index < 0) {
      return 0;
    }
    CRC32C sum = new CRC32C();
    sum.update(bytes.slice(at, end - at));
    if (bytes.duplicate().order(ByteOrder.BIG_ENDIAN).getInt(end) != (int) sum.getValue()) {
      return 0;
    }
    lastIndex = index;
    return end + OF_CHECKSUM;
  }

  /** The index in an entry; below 0 if it begins with something else. */
  private long index(int body) {
    int at = body;
    if (bytes.get(at) == TERM) {
      varint(at + 1);
      at = varintEnd;
    }
    if (at < 0 || at >= bytes.limit()) {
      return -1;
    }
    byte tag = bytes.get(at);
    if (tag == INDEX) {
      long index = varint(at + 1);
      return varintEnd < 0 ? -1 : index;
    }
    // A number that is 0 is left out.
    return tag == RECORDS || tag == CONFIGURATION || tag == METADATA ? 0 : -1;
  }

  private long varint(int from) {
    long value = 0;
    int shift = 0;
    for (int at = from; at < bytes.limit() && shift < Long.SIZE; at++, shift += 7) {
      byte part = bytes.get(at);
      value |= (long) (part & 0x7f) << shift;
      if (part >= 0) {
        varintEnd = at + 1;
        return value;
      }
    }
    varintEnd = -1;
    return 0;
  }
}
