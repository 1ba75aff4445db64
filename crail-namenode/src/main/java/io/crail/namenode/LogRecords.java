/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.error.CrailException;
import io.crail.namenode.change.ChangeRecords;
import io.crail.namenode.log.RecordBytes;
import io.crail.namenode.log.RecordFields;
import io.crail.protocol.codec.Codec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the records of a log say, for people. Stateless. */
public final class LogRecords {
  private static final String NOTHING = "nothing";
  private static final String CHANGE = "Change";
  private static final int MOST_KINDS = 256;

  private LogRecords() {}

  /** The names of all kinds, such as {@code link}. */
  public static List<String> kinds() {
    List<String> names = new ArrayList<>();
    for (int kind = 1; kind < MOST_KINDS; kind++) {
      try {
        names.add(name(codec(kind)));
      } catch (CrailException e) {
        // There is none.
      }
    }
    return names;
  }

  /**
   * The name of a kind.
   *
   * @throws CrailException when there is no such kind
   */
  public static String kind(int kind) throws CrailException {
    return kind == RecordBytes.NOTHING ? NOTHING : name(codec(kind));
  }

  private static String name(Codec<?> codec) {
    String name = codec.type().getSimpleName();
    boolean isChange = name.endsWith(CHANGE);
    return name.substring(0, name.length() - (isChange ? CHANGE.length() : 0))
        .toLowerCase(Locale.ROOT);
  }

  /** The codec of a kind that has this name. */
  static Codec<?> codec(String name) throws CrailException {
    int kind = 1;
    while (kind < MOST_KINDS && !isNamed(kind, name)) {
      kind++;
    }
    return codec(kind);
  }

  private static boolean isNamed(int kind, String name) {
    try {
      return name(codec(kind)).equals(name);
    } catch (CrailException e) {
      return false;
    }
  }

  private static Codec<?> codec(int kind) throws CrailException {
    if (kind == NameNodeLog.LINEAGE) {
      return Lineage.CODEC;
    }
    if (kind == NameNodeLog.START) {
      return Lineage.Start.CODEC;
    }
    return kind < NameNodeLog.LINEAGE ? ChangeRecords.codec(kind) : AnswerLog.codec(kind);
  }

  /**
   * The fields of a record.
   *
   * @throws CrailException when these bytes are no record of that kind
   */
  public static Map<String, Object> fields(int kind, ByteBuffer bytes, int offset, int length)
      throws CrailException {
    if (kind == RecordBytes.NOTHING) {
      return Map.of();
    }
    return RecordFields.of((Record) codec(kind).decode(bytes, offset, length));
  }

  /**
   * The fields of the record that says whose log it is.
   *
   * @throws CrailException when it is of another format, or none
   */
  public static Map<String, Object> lineage(byte[] record) throws CrailException {
    ByteBuffer bytes = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    Lineage.requireFormat(bytes, 0, record.length);
    return fields(NameNodeLog.LINEAGE, bytes, 0, record.length);
  }
}
