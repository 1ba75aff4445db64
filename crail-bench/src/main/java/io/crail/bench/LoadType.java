/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** One thing that a benchmark can measure, as it is told to users. */
public interface LoadType {
  /** The name, as the help writes it. */
  String label();

  /** Whether {@code -s} means something to this type. */
  boolean usesSize();

  /** What it measures, in a sentence. */
  String explanation();

  /** Arguments that run it. */
  String example();

  /** The type with a name in any letter case. */
  static <T extends LoadType> Optional<T> find(List<T> types, String name) {
    return types.stream().filter(type -> type.label().equalsIgnoreCase(name)).findFirst();
  }

  /** All names, for messages. */
  static String names(List<? extends LoadType> types) {
    return types.stream().map(LoadType::label).collect(Collectors.joining(", "));
  }
}
