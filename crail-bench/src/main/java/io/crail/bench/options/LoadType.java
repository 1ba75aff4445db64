/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** One thing that a benchmark can measure, as it is told to users. */
public interface LoadType {
  /**
   * What is told.
   *
   * @param label the name, as the help writes it
   * @param usesSize whether {@code -s} means something to this type
   * @param explanation what it measures, in a sentence
   * @param example arguments that run it
   */
  record Text(String label, boolean usesSize, String explanation, String example) {}

  /** What is told of it. */
  Text text();

  /** The name. */
  default String label() {
    return text().label();
  }

  /** Whether {@code -s} means something to this type. */
  default boolean usesSize() {
    return text().usesSize();
  }

  /** Whether there are figures. */
  default boolean measures() {
    return true;
  }

  /** The type with a name in any letter case. */
  static <T extends LoadType> Optional<T> find(List<T> types, String name) {
    return types.stream().filter(type -> type.label().equalsIgnoreCase(name)).findFirst();
  }

  /** All names, for messages. */
  static String names(List<? extends LoadType> types) {
    return types.stream().map(LoadType::label).collect(Collectors.joining(", "));
  }
}
