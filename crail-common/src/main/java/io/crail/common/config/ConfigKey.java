/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;

/**
 * One configuration key. It is declared once: name, type, default, check, and the sentence that
 * explains it to a user. Immutable. The reference page {@code docs/configuration.md} is generated
 * from all keys.
 *
 * @param <T> the Java type of the value
 */
public final class ConfigKey<T> {
  private static final String BYTE_UNITS = " kmgt";

  private final String name;
  private final ConfigType<T> type;
  private final String defaultText;
  private final String sentence;
  private final Function<T, String> check;

  private ConfigKey(
      String name,
      ConfigType<T> type,
      String defaultText,
      String sentence,
      Function<T, String> check) {
    this.name = Objects.requireNonNull(name, "name");
    this.type = Objects.requireNonNull(type, "type");
    this.defaultText = Objects.requireNonNull(defaultText, "defaultText");
    this.sentence = Objects.requireNonNull(sentence, "sentence");
    this.check = check;
  }

  /**
   * Declares a key. Every value that its type can parse is valid.
   *
   * @param <T> the Java type of the value
   * @param name the full name
   * @param type parses the text of a value
   * @param defaultText the default as a user would write it
   * @param sentence what the key means, in a sentence or two
   * @return the key
   */
  public static <T> ConfigKey<T> of(
      String name, ConfigType<T> type, String defaultText, String sentence) {
    return new ConfigKey<>(name, type, defaultText, sentence, value -> null);
  }

  /**
   * Returns the same key with one more check.
   *
   * @param refusal returns null for a valid value, and otherwise says what is allowed ("must be
   *     ...")
   * @return the new key
   */
  public ConfigKey<T> check(Function<T, String> refusal) {
    Function<T, String> first = check;
    return new ConfigKey<>(
        name,
        type,
        defaultText,
        sentence,
        value -> {
          String complaint = first.apply(value);
          return complaint != null ? complaint : refusal.apply(value);
        });
  }

  /**
   * Returns the same key, which refuses values outside {@code [least, most]}.
   *
   * @param least the least value allowed
   * @param most the greatest value allowed
   * @return the new key
   */
  public ConfigKey<T> between(long least, long most) {
    return check(
        value -> {
          long number = ((Number) value).longValue();
          return number < least || number > most
              ? "must be between " + text(least) + " and " + text(most)
              : null;
        });
  }

  /** A number as a user may write it: one of bytes in the largest unit that needs no fraction. */
  private String text(long number) {
    if (type != ConfigType.BYTES || number == 0) {
      return String.valueOf(number);
    }
    int unit = Math.min(Long.numberOfTrailingZeros(number) / 10, BYTE_UNITS.length() - 1);
    return (number >> 10 * unit) + BYTE_UNITS.substring(unit, unit + 1).strip();
  }

  /**
   * Returns the same key, which refuses times outside {@code [least, most]}.
   *
   * @param least the shortest time allowed
   * @param most the longest time allowed
   * @return the new key
   */
  public ConfigKey<T> between(Duration least, Duration most) {
    return check(
        value -> {
          Duration time = (Duration) value;
          return time.compareTo(least) < 0 || time.compareTo(most) > 0
              ? "must be between " + text(least) + " and " + text(most)
              : null;
        });
  }

  /** A time in the largest unit that needs no fraction, as a user may write it. */
  private static String text(Duration time) {
    long millis = time.toMillis();
    if (millis % 60_000 == 0) {
      return millis / 60_000 + "m";
    }
    return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
  }

  /** {@return the full name, for example {@code crail.blocksize}} */
  public String name() {
    return name;
  }

  /** {@return the type} */
  public ConfigType<T> type() {
    return type;
  }

  /** {@return the default as a user would write it} */
  public String defaultText() {
    return defaultText;
  }

  /** {@return what the key means, in a sentence or two} */
  public String sentence() {
    return sentence;
  }

  /**
   * Parses and checks a value.
   *
   * @throws IllegalArgumentException that says what is allowed
   */
  T parse(String text) {
    T value = type.parse(text);
    String complaint = check.apply(value);
    if (complaint != null) {
      throw new IllegalArgumentException(complaint);
    }
    return value;
  }

  @Override
  public String toString() {
    return name;
  }

  /**
   * The name of a key, however it is written: letter case and white space around it do not matter.
   *
   * @param written as a user writes it
   * @return the name as the key has it
   */
  public static String nameOf(String written) {
    return written.strip().toLowerCase(Locale.ROOT);
  }
}
