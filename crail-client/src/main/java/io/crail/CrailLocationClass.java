/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;

/**
 * The host that a node's bytes should lie on, if it has room. A host is named by its name; the
 * number that {@link #value()} gives is derived from the name, positive, and the same everywhere.
 * Immutable.
 */
public final class CrailLocationClass {
  /** The host of the parent. */
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
   * The class of a host.
   *
   * @param host the name or address that the host's datanodes are known by
   * @throws IllegalArgumentException when it is empty or has more than 255 bytes
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
   * The class of a number: -1 is {@link #PARENT}, 0 is {@link #DEFAULT}, and a positive one is what
   * {@link #value()} gave for a host. A store can use a positive one only for its own host and for
   * hosts whose datanodes it knows.
   *
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

  /** The number. */
  public int value() {
    return value;
  }

  /** The host's name; empty for any host, null for the parent's and for a bare number. */
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
