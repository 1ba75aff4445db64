/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import java.lang.reflect.RecordComponent;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Values as JSON: maps, public records, lists, texts, numbers, true, false, null. An empty optional
 * is null, and anything else is its text. Stateless.
 */
public final class Json {
  private static final String INDENT = "  ";

  private Json() {}

  /**
   * A value as text of several lines. A list of numbers takes one line, and so does a list of such
   * lists.
   */
  public static String of(Object value) {
    StringBuilder text = new StringBuilder();
    write(text, value, "\n");
    return text.append('\n').toString();
  }

  /** A value as text of one line, which ends with it. */
  public static String line(Object value) {
    // Texts in it have no line ends of their own.
    return of(value).strip().replaceAll("\n *", " ") + "\n";
  }

  private static void write(StringBuilder text, Object value, String newLine) {
    if (value instanceof Map<?, ?> map) {
      writeMap(text, map, newLine);
    } else if (value instanceof Record record) {
      writeMap(text, components(record), newLine);
    } else if (value instanceof Iterable<?> list) {
      writeList(text, list, newLine);
    } else if (value instanceof Optional<?> optional) {
      write(text, optional.orElse(null), newLine);
    } else if (value instanceof Double number && !Double.isFinite(number)) {
      // JSON has no such numbers.
      text.append("null");
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      text.append(value);
    } else {
      writeText(text, value.toString());
    }
  }

  private static Map<String, Object> components(Record value) {
    Map<String, Object> components = new LinkedHashMap<>();
    for (RecordComponent each : value.getClass().getRecordComponents()) {
      try {
        components.put(each.getName(), each.getAccessor().invoke(value));
      } catch (ReflectiveOperationException e) {
        throw new IllegalArgumentException("no access to " + each + " of " + value.getClass(), e);
      }
    }
    return components;
  }

  private static void writeMap(StringBuilder text, Map<?, ?> map, String newLine) {
    text.append('{');
    Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<?, ?> entry = entries.next();
      text.append(newLine).append(INDENT);
      writeText(text, entry.getKey().toString());
      text.append(": ");
      write(text, entry.getValue(), newLine + INDENT);
      text.append(entries.hasNext() ? "," : newLine);
    }
    text.append('}');
  }

  private static void writeList(StringBuilder text, Iterable<?> list, String newLine) {
    text.append('[');
    String separator = "";
    boolean lines = false;
    for (Object each : list) {
      boolean own = !(each instanceof Number);
      lines |= own;
      text.append(separator).append(own ? newLine + INDENT : separator.isEmpty() ? "" : " ");
      write(text, each, newLine + INDENT);
      separator = ",";
    }
    text.append(lines ? newLine : "").append(']');
  }

  private static void writeText(StringBuilder text, String plain) {
    text.append('"');
    for (int i = 0; i < plain.length(); i++) {
      char c = plain.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }
}
