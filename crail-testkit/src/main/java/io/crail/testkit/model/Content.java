/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A possible content of a name: nothing, or a file. The bytes of a file are {@link Units} of the
 * operations that wrote it, one after the other. Immutable.
 *
 * @param file the id of the file; 0 for nothing
 * @param parts the operations that wrote the bytes, in order
 * @param leastLength the file may end at any position from here to the end of the last part
 * @param marks what lists of steps have given it
 */
public record Content(long file, List<Part> parts, long leastLength, Marks marks) {
  /** The name does not exist. */
  public static final Content ABSENT = new Content(0, List.of(), 0, Marks.NEW);

  /** The most parts. The owner appends no more. */
  public static final int MAX_PARTS = 12;

  /** The most longs of an encoded content. */
  static final int MAX_LONGS = 3 + 2 * MAX_PARTS + Marks.LONGS;

  /**
   * The bytes of one operation; they end at {@code end} in the file. Those that no operation wrote
   * are {@link Units#ZEROS}.
   */
  public record Part(long operation, long end) {}

  /** Checks the arguments. */
  public Content {
    parts = List.copyOf(parts);
    if (parts.size() > MAX_PARTS) {
      throw new IllegalArgumentException("too many parts: " + parts.size());
    }
  }

  /** A file without bytes. */
  public static Content empty(long file) {
    return new Content(file, List.of(), 0, Marks.NEW);
  }

  /** A file with the bytes of the operation that created it. */
  public static Content of(long file, long length) {
    return empty(file).append(file, length);
  }

  /** The same file with more bytes. */
  public Content append(long operation, long length) {
    List<Part> more = new ArrayList<>(parts);
    more.add(new Part(operation, length() + length));
    return new Content(file, more, length() + length, marks);
  }

  /** The same file after an operation wrote bytes at a position. */
  public Content write(long operation, long position, long length) {
    Content before = position > length() ? resize(position) : this;
    long end = position + length;
    List<Part> more = new ArrayList<>(before.cut(position).parts);
    more.add(new Part(operation, end));
    before.parts.stream().filter(part -> part.end > end).forEach(more::add);
    return new Content(file, more, Math.max(end, length()), marks);
  }

  /** The same file with another length. */
  public Content resize(long length) {
    return length > length() ? append(Units.ZEROS, length - length()) : cut(length);
  }

  /** The same file with other marks. */
  public Content with(Marks newMarks) {
    return new Content(file, parts, leastLength, newMarks);
  }

  /** The bytes in a range that are there. */
  public ByteBuffer bytes(long from, long length) {
    long end = Math.min(from + length, length());
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.max(0, end - from));
    for (int i = 0; i < parts.size(); i++) {
      long first = Math.max(start(i), from);
      long last = Math.min(parts.get(i).end, end);
      if (first < last) {
        bytes.limit((int) (last - from)).position((int) (first - from));
        Units.fill(bytes, file, parts.get(i).operation, first);
      }
    }
    return bytes.clear();
  }

  /**
   * The same file, which may be shorter: a write has failed, and it is unknown how many bytes it
   * has written.
   */
  public Content fromLength(long least) {
    return new Content(file, parts, least, marks);
  }

  /** The same file with the length that was found. */
  public Content cut(long length) {
    List<Part> left = new ArrayList<>();
    for (Part part : parts) {
      if (start(left.size()) < length) {
        left.add(new Part(part.operation, Math.min(part.end, length)));
      }
    }
    return new Content(file, left, length, marks);
  }

  private long start(int index) {
    return index == 0 ? 0 : parts.get(index - 1).end;
  }

  /** True for a file. */
  public boolean isPresent() {
    return file != 0;
  }

  /** The greatest possible length in bytes. */
  public long length() {
    return parts.isEmpty() ? 0 : parts.get(parts.size() - 1).end;
  }

  /** True when a file of this length is possible. */
  public boolean mayHaveLength(long length) {
    return isPresent() && length >= leastLength && length <= length();
  }

  /**
   * Compares a part of a file with this content.
   *
   * @param bytes the part, from index 0 to the limit
   * @param offset the position of the first byte in the file
   * @return null when they match, or else the difference in words
   */
  public String mismatch(ByteBuffer bytes, long offset) {
    long end = offset + bytes.limit();
    for (int i = 0; i < parts.size(); i++) {
      long from = Math.max(start(i), offset);
      long to = Math.min(parts.get(i).end, end);
      if (from < to) {
        int begin = (int) (from - offset);
        int wrong =
            Units.mismatch(bytes, begin, (int) (to - offset), file, parts.get(i).operation, from);
        if (wrong >= 0) {
          return String.format(
              Locale.ROOT,
              "byte %d of %d should be of file %s, operation %s, but has: %s",
              offset + wrong,
              end,
              Units.text(file),
              Units.text(parts.get(i).operation),
              Units.describe(bytes, wrong));
        }
      }
    }
    return end > length() ? "bytes after the end at " + length() : null;
  }

  void encode(LongBuffer target) {
    target.put(file).put(leastLength).put(parts.size());
    for (Part part : parts) {
      target.put(part.operation).put(part.end);
    }
    marks.encode(target);
  }

  static Content decode(LongBuffer source) {
    long file = source.get();
    long least = source.get();
    List<Part> parts = new ArrayList<>();
    for (long left = source.get(); left > 0; left--) {
      parts.add(new Part(source.get(), source.get()));
    }
    return new Content(file, parts, least, Marks.decode(source));
  }

  @Override
  public String toString() {
    if (!isPresent()) {
      return "nothing";
    }
    StringBuilder text = new StringBuilder("file " + Units.text(file));
    for (Part part : parts) {
      text.append(" [").append(Units.text(part.operation)).append(" to ").append(part.end);
      text.append(']');
    }
    return text
        + (leastLength < length() ? " or less, from " + leastLength : "")
        + (marks.equals(Marks.NEW) ? "" : " (" + marks + ")");
  }
}
