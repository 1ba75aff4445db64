/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.common.Utf8;
import io.crail.protocol.codec.SmallValue;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of a record for people: names with numbers, true and false, texts, lists and maps. Of
 * what users have stored there is the length, and the first bytes only. Stateless.
 */
public final class RecordFields {
  /** The most bytes of a value that are shown. */
  private static final int SHOWN = 8;

  private RecordFields() {}

  /** The fields, in their order. */
  public static Map<String, Object> of(Record record) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (RecordComponent each : record.getClass().getRecordComponents()) {
      try {
        // Records of other packages need not be public for this.
        each.getAccessor().setAccessible(true);
        fields.put(each.getName(), shown(each.getAccessor().invoke(record)));
      } catch (ReflectiveOperationException e) {
        throw new IllegalArgumentException("no access to " + each, e);
      }
    }
    return fields;
  }

  private static Object shown(Object value) {
    if (value instanceof Record record) {
      return of(record);
    }
    if (value instanceof List<?> list) {
      List<Object> all = new ArrayList<>();
      list.forEach(each -> all.add(shown(each)));
      return all;
    }
    if (value instanceof SmallValue small) {
      return bytes(small.bytes());
    }
    if (value instanceof byte[] bytes) {
      return bytes(bytes);
    }
    if (value instanceof Utf8 text) {
      return text.toString();
    }
    boolean isPlain = value instanceof Number || value instanceof Boolean;
    return isPlain ? value : String.valueOf(value);
  }

  private static String bytes(byte[] bytes) {
    if (bytes.length == 0) {
      return "";
    }
    String hex = HexFormat.of().formatHex(bytes, 0, Math.min(SHOWN, bytes.length));
    return bytes.length + " bytes, " + hex + (bytes.length > SHOWN ? "..." : "");
  }
}
