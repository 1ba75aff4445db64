/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** One type of measurement, as it is described to users. */
public interface LoadType {
  /**
   * The description.
   *
   * @param label the name, as the help writes it
   * @param usesSize whether the type uses {@code -s}
   * @param explanation what it measures, in a sentence
   * @param example arguments that run it
   */
  record Text(String label, boolean usesSize, String explanation, String example) {}

  /** The description. */
  Text text();

  /** The name. */
  default String label() {
    return text().label();
  }

  /** Whether the type uses {@code -s}. */
  default boolean usesSize() {
    return text().usesSize();
  }

  /** Whether the type yields figures. */
  default boolean measures() {
    return true;
  }

  /** The type with a name. The letter case does not matter. */
  static <T extends LoadType> Optional<T> find(List<T> types, String name) {
    return types.stream().filter(type -> type.label().equalsIgnoreCase(name)).findFirst();
  }

  /** All names, for messages. */
  static String names(List<? extends LoadType> types) {
    return types.stream().map(LoadType::label).collect(Collectors.joining(", "));
  }
}
