/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.common.Printable;

/**
 * The options of one command, checked.
 *
 * @param <T> what the benchmark measures
 * @param type what is measured
 * @param path the file or directory
 * @param size bytes of an operation; 0 stands for the configured buffer size
 * @param loop operations
 * @param batch operations in flight
 * @param storageClass storage class of what is created
 * @param locationClass location class of what is created
 * @param warmUp operations before those that count
 * @param experiments how often all is measured
 * @param keepOpen whether all experiments use one store
 * @param enumerable whether listings show what is created
 * @param buffered whether streams have their own buffer
 * @param names files of a directory that are chosen from or listed
 * @param seed of everything random
 * @param touch whether all bytes are moved once before they are moved for the figures
 */
public record BenchOptions<T extends LoadType>(
    T type,
    String path,
    int size,
    long loop,
    int batch,
    int storageClass,
    int locationClass,
    long warmUp,
    int experiments,
    boolean keepOpen,
    boolean enumerable,
    boolean buffered,
    int names,
    long seed,
    boolean touch) {
  /** The same, with a size where none was given. */
  public BenchOptions<T> withSizeOr(long absent) {
    return new BenchOptions<>(
        type,
        path,
        size > 0 ? size : (int) absent,
        loop,
        batch,
        storageClass,
        locationClass,
        warmUp,
        experiments,
        keepOpen,
        enumerable,
        buffered,
        names,
        seed,
        touch);
  }

  /**
   * The command line as it was understood, in one line.
   *
   * @param more what only one benchmark has, beginning with a comma
   */
  public String describe(String more) {
    StringBuilder line = new StringBuilder(type.label());
    line.append(", filename ").append(Printable.line(path));
    if (type.usesSize()) {
      line.append(", size ").append(size);
    }
    return line.append(", loop ")
        .append(loop)
        .append(more)
        .append(", seed ")
        .append(seed)
        .toString();
  }
}
