/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Addresses;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The texts of values. A text that can be read must survive being written and read again.
 *
 * <pre>[type][text ...]</pre>
 */
final class ValuesTarget implements Target {
  private static final List<ConfigType<?>> TYPES =
      List.of(
          ConfigType.BOOLEAN,
          ConfigType.INT,
          ConfigType.BYTES,
          ConfigType.STRING,
          ConfigType.LIST,
          ConfigType.ADDRESSES,
          ConfigType.duration(DurationUnit.SECONDS),
          ConfigType.oneOf(DurationUnit.class));

  @Override
  public void run(byte[] bytes) {
    Input input = new Input(bytes);
    check(TYPES.get(input.below(TYPES.size())), input.restText());
  }

  private static <T> void check(ConfigType<T> type, String text) {
    T value;
    try {
      value = type.parse(text);
    } catch (IllegalArgumentException e) {
      Require.that(
          e.getClass() == IllegalArgumentException.class && e.getMessage() != null,
          type.label() + " is refused with " + e);
      return;
    }
    Require.equal(value, type.parse(write(value)), type.label() + " '" + text + "'");
    if (value instanceof Long size) {
      Require.that(size >= 0, "a negative size");
    } else if (value instanceof Duration time) {
      Require.that(!time.isNegative(), "a negative time");
    }
  }

  private static String write(Object value) {
    if (value instanceof Duration time) {
      return time.toMillis() + "ms";
    }
    if (value instanceof List<?> list) {
      return String.join(",", list.stream().map(ValuesTarget::write).toList());
    }
    return value instanceof InetSocketAddress address ? Addresses.text(address) : value.toString();
  }

  @Override
  public List<byte[]> seeds() {
    String[] texts = {
      "true", "-12", "64MiB", "text", "a, b,,c", "crail://a:1,[::1]:9060", "250ms", "minutes"
    };
    List<byte[]> seeds = new ArrayList<>();
    for (int type = 0; type < texts.length; type++) {
      seeds.add(((char) type + texts[type]).getBytes(StandardCharsets.UTF_8));
    }
    return seeds;
  }
}
