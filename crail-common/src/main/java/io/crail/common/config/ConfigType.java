/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import io.crail.common.Addresses;
import io.crail.common.NamenodeAddresses;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Parses the text of a value into an object, and says what a user may write. Stateless and
 * thread-safe.
 *
 * @param <T> the Java type of the value
 */
public abstract class ConfigType<T> {
  /** {@code true} or {@code false}, in any letter case. */
  public static final ConfigType<Boolean> BOOLEAN =
      new ConfigType<>("boolean") {
        @Override
        public Boolean parse(String text) {
          switch (text.toLowerCase(Locale.ROOT)) {
            case "true":
              return Boolean.TRUE;
            case "false":
              return Boolean.FALSE;
            default:
              throw new IllegalArgumentException("must be true or false");
          }
        }
      };

  /** A decimal 32-bit integer. */
  public static final ConfigType<Integer> INT =
      new ConfigType<>("integer") {
        @Override
        public Integer parse(String text) {
          try {
            return Integer.valueOf(text);
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException("must be a whole number", e);
          }
        }
      };

  /** A number of bytes, with an optional binary unit: {@code 4096}, {@code 64k}, {@code 1g}. */
  public static final ConfigType<Long> BYTES =
      new ConfigType<>("bytes") {
        @Override
        public Long parse(String text) {
          return parseBytes(text);
        }
      };

  /**
   * Microseconds, up to a second, or {@code always}. The value is in nanoseconds; for {@code
   * always} it is {@link Long#MAX_VALUE}.
   */
  public static final ConfigType<Long> MICROS_OR_ALWAYS =
      new ConfigType<>("integer or always") {
        @Override
        public Long parse(String text) {
          if (text.equalsIgnoreCase("always")) {
            return Long.MAX_VALUE;
          }
          String allowed = "must be a whole number from 0 to 1000000, or always";
          try {
            int micros = Integer.parseInt(text);
            if (micros >= 0 && micros <= 1_000_000) {
              return micros * 1_000L;
            }
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException(allowed, e);
          }
          throw new IllegalArgumentException(allowed);
        }
      };

  /** Any text; it may be empty. */
  public static final ConfigType<String> STRING =
      new ConfigType<>("text") {
        @Override
        public String parse(String text) {
          return text;
        }
      };

  /**
   * A text that is never shown: the value itself, or {@code file:/path} for the first line of a
   * file. It is in no message, and no command prints it. An empty text means none.
   */
  public static final ConfigType<Secret> SECRET =
      new ConfigType<>("secret") {
        @Override
        public Secret parse(String text) {
          return new Secret(text);
        }

        @Override
        public String shown(String text) {
          return parse(text).toString();
        }
      };

  /** Texts separated by commas. An empty text means no element. */
  public static final ConfigType<List<String>> LIST =
      new ConfigType<>("list") {
        @Override
        public List<String> parse(String text) {
          return splitList(text);
        }
      };

  /**
   * Namenode addresses, {@code crail://host:port}, separated by commas, and those of the peers of
   * one namenode by bars.
   */
  public static final ConfigType<NamenodeAddresses> ADDRESSES =
      new ConfigType<>("addresses") {
        @Override
        public NamenodeAddresses parse(String text) {
          List<List<InetSocketAddress>> namenodes = new ArrayList<>();
          for (String part : splitList(text)) {
            List<InetSocketAddress> peers = new ArrayList<>();
            for (String peer : part.split("\\|", -1)) {
              peers.add(parseAddress(peer.strip()));
            }
            namenodes.add(peers);
          }
          return new NamenodeAddresses(namenodes);
        }
      };

  private static final String SCHEME = "crail://";

  private final String label;

  private ConfigType(String label) {
    this.label = label;
  }

  /**
   * Parses a value.
   *
   * @param text the value as a user writes it
   * @return the value
   * @throws IllegalArgumentException when the text is invalid; the message says what is allowed,
   *     without key or value
   */
  public abstract T parse(String text);

  /**
   * {@return what may be shown of a value}
   *
   * @param text the value as a user writes it
   */
  public String shown(String text) {
    return text;
  }

  /** {@return the word for this type in the reference page} */
  public final String label() {
    return label;
  }

  /**
   * A duration: a whole number of {@code unit}s, as Apache Crail writes it, or a number with its
   * own unit ({@code 250ms}, {@code 10s}, {@code 5m}).
   *
   * @param unit the unit of a number that is written without one
   * @return the type
   */
  public static ConfigType<Duration> duration(DurationUnit unit) {
    Objects.requireNonNull(unit, "unit");
    return new ConfigType<>("duration (" + unit.suffix + ")") {
      @Override
      public Duration parse(String text) {
        return parseDuration(text, unit);
      }
    };
  }

  /**
   * One of the constants of an enumeration, written in lower case.
   *
   * @param <E> the enumeration
   * @param type its class
   * @return the type
   */
  public static <E extends Enum<E>> ConfigType<E> oneOf(Class<E> type) {
    String allowed =
        String.join(
            ", ",
            Arrays.stream(type.getEnumConstants())
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toList());
    return new ConfigType<>("one of: " + allowed) {
      @Override
      public E parse(String text) {
        for (E constant : type.getEnumConstants()) {
          if (constant.name().equalsIgnoreCase(text)) {
            return constant;
          }
        }
        throw new IllegalArgumentException("must be one of: " + allowed);
      }
    };
  }

  /** Units of {@link #duration(DurationUnit)}. */
  public enum DurationUnit {
    /** Milliseconds. */
    MILLISECONDS("ms", 1),
    /** Seconds. */
    SECONDS("s", 1000),
    /** Minutes. */
    MINUTES("m", 60_000);

    private final String suffix;
    private final long millis;

    DurationUnit(String suffix, long millis) {
      this.suffix = suffix;
      this.millis = millis;
    }
  }

  /**
   * Parses a number of bytes with an optional binary unit.
   *
   * @param text for example {@code 64k}
   * @return bytes
   * @throws IllegalArgumentException when the text is no number, or the number is negative or
   *     larger than 2^63 - 1
   */
  public static long parseBytes(String text) {
    String digits = text.toLowerCase(Locale.ROOT);
    if (digits.endsWith("ib")) {
      digits = digits.substring(0, digits.length() - 2);
    } else if (digits.endsWith("b")) {
      digits = digits.substring(0, digits.length() - 1);
    }
    long unit = 1;
    if (!digits.isEmpty()) {
      int power = "kmgt".indexOf(digits.charAt(digits.length() - 1));
      if (power >= 0) {
        unit = 1L << (10 * (power + 1));
        digits = digits.substring(0, digits.length() - 1);
      }
    }
    try {
      long count = Long.parseLong(digits);
      if (count >= 0) {
        return Math.multiplyExact(count, unit);
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // Falls through to the one message below.
    }
    throw new IllegalArgumentException("must be a number of bytes such as 4096, 64k, 16m or 1g");
  }

  /**
   * Parses {@code [crail://]host:port}. A host with colons (IPv6) stands in brackets.
   *
   * @param text the address
   * @return an unresolved address
   * @throws IllegalArgumentException when host or port is missing or the port is out of range
   */
  public static InetSocketAddress parseAddress(String text) {
    String address = text.startsWith(SCHEME) ? text.substring(SCHEME.length()) : text;
    try {
      return Addresses.parse(
          address.endsWith("/") ? address.substring(0, address.length() - 1) : address, -1);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "must be crail://host:port, with IPv6 hosts in brackets", e);
    }
  }

  private static Duration parseDuration(String text, DurationUnit defaultUnit) {
    String digits = text.toLowerCase(Locale.ROOT);
    long millis = defaultUnit.millis;
    // Milliseconds come first, since their suffix ends with the suffix of seconds.
    for (DurationUnit unit : DurationUnit.values()) {
      if (digits.endsWith(unit.suffix)) {
        digits = digits.substring(0, digits.length() - unit.suffix.length());
        millis = unit.millis;
        break;
      }
    }
    try {
      long count = Long.parseLong(digits);
      if (count >= 0) {
        return Duration.ofMillis(Math.multiplyExact(count, millis));
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // Falls through to the one message below.
    }
    throw new IllegalArgumentException("must be a time such as 250ms, 10s or 5m");
  }

  private static List<String> splitList(String text) {
    return Arrays.stream(text.split(",")).map(String::strip).filter(s -> !s.isEmpty()).toList();
  }
}
