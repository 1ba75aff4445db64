/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** The messages between processes that measure together. Stateless. */
public final class Wire {
  /** The client waits for a cue. The cue follows. */
  public static final int AT = 1;

  /** All workers of the client have ended. */
  public static final int ENDED = 2;

  /** The figures of the client follow. */
  public static final int FIGURES = 3;

  /** The client ends. The reason follows. */
  public static final int FAILED = 4;

  private static final int MAX_BYTES = 1 << 26;

  private Wire() {}

  public static void writeText(DataOutput out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  public static String readText(DataInput in) throws IOException {
    return new String(readBytes(in), StandardCharsets.UTF_8);
  }

  public static void writeTexts(DataOutput out, List<String> texts) throws IOException {
    out.writeInt(texts.size());
    for (String text : texts) {
      writeText(out, text);
    }
  }

  public static List<String> readTexts(DataInput in) throws IOException {
    List<String> texts = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      texts.add(readText(in));
    }
    return texts;
  }

  public static void writeMap(DataOutput out, Map<String, String> map) throws IOException {
    out.writeInt(map.size());
    for (Map.Entry<String, String> entry : map.entrySet()) {
      writeText(out, entry.getKey());
      writeText(out, entry.getValue());
    }
  }

  public static Map<String, String> readMap(DataInput in) throws IOException {
    Map<String, String> map = new LinkedHashMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      String key = readText(in);
      map.put(key, readText(in));
    }
    return map;
  }

  public static void writeFigures(DataOutput out, Figures figures) throws IOException {
    out.writeLong(figures.operations());
    out.writeLong(figures.givenUp());
    out.writeLong(figures.bytes());
    out.writeLong(figures.nanos());
    byte[] histogram = encode(figures.latencies());
    out.writeInt(histogram.length);
    out.write(histogram);
  }

  public static Figures readFigures(DataInput in) throws IOException {
    long operations = in.readLong();
    long givenUp = in.readLong();
    long bytes = in.readLong();
    long nanos = in.readLong();
    return new Figures(operations, givenUp, bytes, nanos, decode(readBytes(in)));
  }

  /** A histogram in HdrHistogram's compressed form. */
  public static byte[] encode(Histogram histogram) {
    ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(buffer);
    byte[] bytes = new byte[length];
    buffer.flip().get(bytes);
    return bytes;
  }

  /**
   * Decodes what {@link #encode} gave.
   *
   * @throws IOException when the bytes are something else
   */
  public static Histogram decode(byte[] bytes) throws IOException {
    try {
      return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0);
    } catch (DataFormatException | IllegalArgumentException e) {
      throw new IOException("not a histogram: " + e.getMessage(), e);
    }
  }

  private static byte[] readBytes(DataInput in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > MAX_BYTES) {
      throw new IOException("a message of " + length + " bytes");
    }
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return bytes;
  }
}
