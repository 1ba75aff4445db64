/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.NodePath;
import java.util.List;

/**
 * The paths of directories that a store spreads over all namenodes, as {@code crail.client.spread}
 * gives them. A component of a pattern is a name, or a {@code *} for any one name. Immutable.
 */
final class SpreadPatterns {
  private static final String ANY = "*";

  private final Utf8[] patterns;

  private SpreadPatterns(Utf8[] patterns) {
    this.patterns = patterns;
  }

  /** Says what is wrong with patterns; null when {@link #parse} takes them. */
  static String refusal(List<String> texts) {
    for (String text : texts) {
      if (!text.startsWith("/")) {
        return "must be paths that begin with a slash";
      }
      for (String component : text.split("/")) {
        if (component.contains(ANY) && !component.equals(ANY)) {
          return "must have a * only as a whole component";
        }
      }
      try {
        if (NodePath.parse(text).equals(NodePath.ROOT)) {
          return "must not have the root, which is at all namenodes in any case";
        }
      } catch (CrailException e) {
        return "must be paths: " + e.detail();
      }
    }
    for (String above : texts) {
      for (String below : texts) {
        if (isAbove(components(above), components(below))) {
          return "must not have a path below another one: no spread directory is in another one";
        }
      }
    }
    return null;
  }

  private static String[] components(String pattern) {
    return parsed(pattern).toString().substring(1).split("/");
  }

  /** Whether a path of {@code above} can lead to one of {@code below}. */
  private static boolean isAbove(String[] above, String[] below) {
    if (above.length >= below.length) {
      return false;
    }
    for (int i = 0; i < above.length; i++) {
      if (!above[i].equals(below[i]) && !above[i].equals(ANY) && !below[i].equals(ANY)) {
        return false;
      }
    }
    return true;
  }

  /** Takes patterns that are not refused. */
  static SpreadPatterns parse(List<String> texts) {
    return new SpreadPatterns(texts.stream().map(SpreadPatterns::parsed).toArray(Utf8[]::new));
  }

  private static Utf8 parsed(String text) {
    try {
      return NodePath.parse(text);
    } catch (CrailException e) {
      throw new IllegalArgumentException(text, e);
    }
  }

  /**
   * Whether a pattern gives a path.
   *
   * @param path in the form of {@link NodePath}
   */
  boolean match(Utf8 path) {
    for (Utf8 pattern : patterns) {
      if (matches(pattern, path)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(Utf8 pattern, Utf8 path) {
    int end = path.length();
    int at = 0;
    for (int i = 0; i < pattern.length(); i++) {
      byte next = pattern.byteAt(i);
      if (at == end || next != '*' && next != path.byteAt(at)) {
        return false;
      }
      at++;
      // A name has at least one byte.
      while (next == '*' && at < end && path.byteAt(at) != '/') {
        at++;
      }
    }
    return at == end;
  }
}
