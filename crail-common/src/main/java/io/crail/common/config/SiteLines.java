/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the lines of a site file; {@link Configuration} says how they look. Stateless. */
final class SiteLines {
  private static final Pattern LINE = Pattern.compile("([^\\s=:]+)\\s*[=:\\s]\\s*(.*)");
  private static final Pattern VARIABLE =
      Pattern.compile("\\$(?:\\$|\\{([A-Za-z_][A-Za-z0-9_]*)\\}|([A-Za-z_][A-Za-z0-9_]*))");
  private static final Pattern COMMENT = Pattern.compile("(^|\\s)#.*");

  /** Editors of some systems write it in front of a text. */
  private static final String BYTE_ORDER_MARK = "\uFEFF";

  private SiteLines() {}

  /** Takes what a line sets. */
  interface Taker {
    /**
     * Takes it.
     *
     * @param name the key as it is written
     * @param value its value, with variables replaced
     * @param place file and line
     */
    void take(String name, String value, String place);
  }

  /**
   * Gives each line that sets something to a taker.
   *
   * @param environment returns the value of a variable, or null when it is not set
   * @throws ConfigException for a file that cannot be read or is not UTF-8, a variable that is not
   *     set, or a key that occurs twice
   */
  static void read(Path file, Function<String, String> environment, Taker taker) {
    Map<String, Integer> seen = new HashMap<>();
    int number = 0;
    for (String line : text(file).lines().toList()) {
      number++;
      String stripped = line.strip();
      if (stripped.isEmpty() || stripped.startsWith("#")) {
        continue;
      }
      String place = file + ":" + number;
      Matcher matcher = LINE.matcher(stripped);
      String name = matcher.matches() ? matcher.group(1) : stripped;
      String value = matcher.matches() ? COMMENT.matcher(matcher.group(2)).replaceFirst("") : "";
      Integer earlier = seen.putIfAbsent(ConfigKey.nameOf(name), number);
      if (earlier != null) {
        throw new ConfigException(
            place + ": key '" + name + "' was set before, in line " + earlier);
      }
      taker.take(name, expand(value, place, environment), place);
    }
  }

  private static String text(Path file) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new ConfigException("no such file: " + file, e);
    } catch (AccessDeniedException e) {
      throw new ConfigException(file + ": may not be read by this user", e);
    } catch (IOException e) {
      throw new ConfigException(
          file + (Files.isDirectory(file) ? " is a directory" : ": cannot be read: " + e), e);
    }
    CharBuffer text = CharBuffer.allocate(bytes.length);
    CoderResult result =
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes), text, true);
    text.flip();
    if (result.isError()) {
      long line = 1 + text.chars().filter(character -> character == '\n').count();
      throw new ConfigException(file + ":" + line + ": is not UTF-8");
    }
    String read = text.toString();
    return read.startsWith(BYTE_ORDER_MARK) ? read.substring(1) : read;
  }

  private static String expand(String value, String place, Function<String, String> environment) {
    Matcher matcher = VARIABLE.matcher(value);
    StringBuilder expanded = new StringBuilder();
    while (matcher.find()) {
      String variable = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
      String replacement = variable == null ? "$" : environment.apply(variable);
      if (replacement == null) {
        throw new ConfigException(place + ": environment variable '" + variable + "' is not set");
      }
      matcher.appendReplacement(expanded, Matcher.quoteReplacement(replacement));
    }
    return matcher.appendTail(expanded).toString();
  }
}
