/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;

/**
 * The host that should hold a node's bytes, if it has room. If it has none, or no datanode, the
 * bytes go together to another host, as far as that has room. So a node with a host is lost with
 * one, where the bytes of others spread over all. A host is known by its name. The number that
 * {@link #value()} returns is derived from the name; it is positive, and the same everywhere.
 * Immutable.
 */
public final class CrailLocationClass {
  /** The location class of the parent. */
  public static final CrailLocationClass PARENT = new CrailLocationClass(-1, null);

  /** Any host. */
  public static final CrailLocationClass DEFAULT = new CrailLocationClass(0, "");

  private final int value;
  private final String host;

  private CrailLocationClass(int value, String host) {
    this.value = value;
    this.host = host;
  }

  /**
   * Returns the class of a host.
   *
   * @param host the name or address by which the host's datanodes are known
   * @return the class
   * @throws IllegalArgumentException when the name is empty or has more than 255 bytes
   */
  public static CrailLocationClass of(String host) {
    Objects.requireNonNull(host, "host");
    String name = host.toLowerCase(Locale.ROOT);
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > 255) {
      throw new IllegalArgumentException("host must have 1 to 255 bytes: '" + host + "'");
    }
    int number = name.hashCode() & Integer.MAX_VALUE;
    return new CrailLocationClass(number == 0 ? 1 : number, name);
  }

  /**
   * Returns the class of a number: -1 is {@link #PARENT}, 0 is {@link #DEFAULT}, and a positive
   * number is one that {@link #value()} returned for a host. A store can use a positive number only
   * for its own host and for hosts whose datanodes it knows.
   *
   * @param value the number
   * @return the class
   * @throws IllegalArgumentException for a number below -1
   */
  public static CrailLocationClass get(int value) {
    switch (value) {
      case -1:
        return PARENT;
      case 0:
        return DEFAULT;
      default:
        if (value < 0) {
          throw new IllegalArgumentException("location class must be at least -1, not " + value);
        }
        return new CrailLocationClass(value, null);
    }
  }

  /** {@return the number of this class} */
  public int value() {
    return value;
  }

  /**
   * {@return the name of the host; empty for any host; null for the parent's class and for a class
   * that was made from a number}
   */
  public String host() {
    return host;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CrailLocationClass that && value == that.value;
  }

  @Override
  public int hashCode() {
    return value;
  }

  @Override
  public String toString() {
    return host == null || host.isEmpty() ? String.valueOf(value) : value + " (" + host + ")";
  }
}
