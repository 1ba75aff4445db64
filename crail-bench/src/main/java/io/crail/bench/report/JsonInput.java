/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.record.BenchException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON: the counterpart of {@link Json}. Objects become maps, arrays become lists, and
 * numbers become doubles. Used by one thread.
 */
public final class JsonInput {
  private static final int MOST_DEPTH = 32;

  private final String text;
  private int at;

  private JsonInput(String text) {
    this.text = text;
  }

  /**
   * Reads a text that is one value.
   *
   * @return a map, list, text, double, boolean, or null
   * @throws BenchException that says where the text is no JSON
   */
  public static Object parse(String text) throws BenchException {
    JsonInput input = new JsonInput(text);
    Object value = input.value(0);
    input.skipBlanks();
    if (input.at < text.length()) {
      throw input.wrong();
    }
    return value;
  }

  private BenchException wrong() {
    return new BenchException("no JSON at character " + (at + 1));
  }

  private void skipBlanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  /** The next character that is no blank; 0 at the end. */
  private char peek() {
    skipBlanks();
    return at < text.length() ? text.charAt(at) : 0;
  }

  private void expect(char wanted) throws BenchException {
    if (peek() != wanted) {
      throw wrong();
    }
    at++;
  }

  /** Whether another element follows in what ends with a character, which is then skipped. */
  private boolean hasMore(boolean first, char end) throws BenchException {
    if (peek() == end) {
      at++;
      return false;
    }
    if (!first) {
      expect(',');
    }
    return true;
  }

  private Object value(int depth) throws BenchException {
    if (depth > MOST_DEPTH) {
      throw wrong();
    }
    switch (peek()) {
      case '{' -> {
        return map(depth);
      }
      case '[' -> {
        return list(depth);
      }
      case '"' -> {
        return string();
      }
      default -> {
        return word();
      }
    }
  }

  private Map<String, Object> map(int depth) throws BenchException {
    Map<String, Object> map = new LinkedHashMap<>();
    expect('{');
    while (hasMore(map.isEmpty(), '}')) {
      skipBlanks();
      String name = string();
      expect(':');
      map.put(name, value(depth + 1));
    }
    return map;
  }

  private List<Object> list(int depth) throws BenchException {
    List<Object> list = new ArrayList<>();
    expect('[');
    while (hasMore(list.isEmpty(), ']')) {
      list.add(value(depth + 1));
    }
    return list;
  }

  private String string() throws BenchException {
    expect('"');
    StringBuilder string = new StringBuilder();
    while (at < text.length() && text.charAt(at) != '"') {
      char c = text.charAt(at++);
      string.append(c == '\\' ? escaped() : c);
    }
    expect('"');
    return string.toString();
  }

  private char escaped() throws BenchException {
    char c = at < text.length() ? text.charAt(at++) : 0;
    int plain = "\"\\/bfnrt".indexOf(c);
    if (plain >= 0) {
      return "\"\\/\b\f\n\r\t".charAt(plain);
    }
    if (c == 'u' && at + 4 <= text.length()) {
      try {
        char unicode = (char) Integer.parseInt(text.substring(at, at + 4), 16);
        at += 4;
        return unicode;
      } catch (NumberFormatException e) {
        // Falls through.
      }
    }
    throw wrong();
  }

  private Object word() throws BenchException {
    int begin = at;
    while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String word = text.substring(begin, at);
    switch (word) {
      case "true" -> {
        return true;
      }
      case "false" -> {
        return false;
      }
      case "null" -> {
        return null;
      }
      default -> {
        try {
          return Double.valueOf(word);
        } catch (NumberFormatException e) {
          at = begin;
          throw wrong();
        }
      }
    }
  }
}
