/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.protocol.codec.Codec;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;

/**
 * The pages of memory that hold the records of a log until they are written. Where a page ends
 * between a change and what finishes it, its last records say so. Used under the monitor of the
 * log.
 */
public final class LogPages {
  private static final int PAGE_BYTES = 256 << 10;
  private static final int MOST_SPARE_PAGES = 8;
  private static final byte[] ZEROS = new byte[LogFrame.PAGE];

  private Page filling;
  private final ArrayDeque<Page> full = new ArrayDeque<>();
  private final ArrayDeque<Page> spare = new ArrayDeque<>();

  /** What the next page has to say at its end, unless it is finished before. */
  private final ArrayList<Unfinished<?>> unfinished = new ArrayList<>();

  private int unfinishedBytes;
  private long waitingBytes;
  private long last;
  private long lastFull;

  /** Some records that are written together, behind room for their header. */
  public static final class Page {
    private final ByteBuffer bytes;
    private long first;
    private int count;

    /** Set when it is durable, by the log. */
    boolean isWritten;

    private Page(int capacity, long number) {
      bytes = LogFrame.memory(capacity);
      begin(number);
    }

    private void begin(long number) {
      bytes.clear().position(LogFrame.HEADER);
      first = number;
      count = 0;
      isWritten = false;
    }

    /** A page without records, which protects those before it. */
    static Page empty(long number) {
      return new Page(LogFrame.PAGE, number);
    }

    /** Bytes of the records. */
    int length() {
      return bytes.position() - LogFrame.HEADER;
    }

    /** The records: i32 length, u8 kind, and the bytes of each. */
    public ByteBuffer records() {
      return bytes.slice(LogFrame.HEADER, length());
    }

    /** How many records there are. */
    public int count() {
      return count;
    }

    /** The number of the first record. */
    public long first() {
      return first;
    }

    /** The number of the last record. */
    long last() {
      return first + count - 1;
    }

    /** Completes it. Returns what is to be written. */
    ByteBuffer seal(LogFrame.Header header) {
      LogFrame.seal(bytes, header);
      bytes.put(ZEROS, 0, header.padded() - bytes.position());
      return bytes.flip();
    }
  }

  /**
   * Begins without records.
   *
   * @param last the number of the last one that is in a file
   */
  public LogPages(long last) {
    this.last = last;
    this.lastFull = last;
  }

  /** The number of the last record. */
  public long last() {
    return last;
  }

  /** The number of the last record of a page that is full. */
  long lastFull() {
    return lastFull;
  }

  /** Bytes of all records. */
  public long waitingBytes() {
    return waitingBytes;
  }

  /** Whether there are no records. */
  public boolean isEmpty() {
    return filling == null && full.isEmpty();
  }

  /**
   * Adds a record.
   *
   * @param begins what it begins; null for nothing
   * @param ends what it finishes; null for nothing
   */
  public <T> void add(
      int kind, Codec<T> codec, T record, Unfinished<?> begins, Unfinished<?> ends) {
    int length = codec.length(record);
    if (length > LogFrame.MOST / 2) {
      throw new IllegalArgumentException("a record of " + length + " bytes");
    }
    int room = begins == null ? 0 : begins.length();
    makeRoom(LogFrame.OF_RECORD + length + room);
    put(kind, codec, record, length);
    if (begins != null) {
      unfinished.add(begins);
      unfinishedBytes += room;
    }
    if (ends != null && unfinished.remove(ends)) {
      unfinishedBytes -= ends.length();
    }
  }

  private <T> void put(int kind, Codec<T> codec, T record, int length) {
    ByteBuffer bytes = filling.bytes;
    int at = bytes.position();
    bytes.putInt(at, length);
    bytes.put(at + Integer.BYTES, (byte) kind);
    codec.encode(record, bytes, at + LogFrame.OF_RECORD);
    bytes.position(at + LogFrame.OF_RECORD + length);
    filling.count++;
    waitingBytes += LogFrame.OF_RECORD + length;
    last++;
  }

  private <T> void put(Unfinished<T> each) {
    put(each.kind(), each.codec(), each.record(), each.codec().length(each.record()));
  }

  /** Has a page with so much room, and more for what is unfinished at its end. */
  private void makeRoom(int bytes) {
    if (filling != null && filling.bytes.remaining() >= bytes + unfinishedBytes) {
      return;
    }
    if (filling != null) {
      full.addLast(endPage());
      lastFull = last;
    }
    int needed = LogFrame.padded(bytes);
    Page next = needed > PAGE_BYTES ? null : spare.pollLast();
    if (next == null) {
      next = new Page(Math.max(PAGE_BYTES, needed), last + 1);
    } else {
      next.begin(last + 1);
    }
    filling = next;
  }

  /** Nothing more is added to the present page, if it is the next one to be taken. */
  public void end() {
    if (full.isEmpty() && filling != null) {
      full.addLast(endPage());
      lastFull = last;
    }
  }

  /** Nothing more is added to the present page. */
  private Page endPage() {
    for (Unfinished<?> each : unfinished) {
      put(each);
    }
    unfinished.clear();
    unfinishedBytes = 0;
    Page ended = filling;
    filling = null;
    return ended;
  }

  /** Bytes of the records of the next page, if there is one. */
  int nextLength() {
    return full.isEmpty() ? filling.length() + unfinishedBytes : full.peekFirst().length();
  }

  /** Takes the next page. */
  public Page take() {
    Page page = full.isEmpty() ? endPage() : full.pollFirst();
    waitingBytes -= page.length();
    return page;
  }

  /** Takes a page back. */
  public void giveBack(Page page) {
    if (page.bytes.capacity() == PAGE_BYTES && spare.size() < MOST_SPARE_PAGES) {
      spare.addLast(page);
    }
  }
}
