/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import io.crail.common.Printable;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

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
 * @param dropped experiments before those that count
 * @param experiments those that count
 * @param keepOpen whether all experiments use one store
 * @param enumerable whether listings show what is created
 * @param buffered whether streams have their own buffer
 * @param names files of a directory that are chosen from or listed
 * @param seed of everything random
 * @param touch whether all bytes are moved once before they are moved for the figures
 * @param frame how the load is driven
 * @param worker which of the workers this is for; the first is 0
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
    int dropped,
    int experiments,
    boolean keepOpen,
    boolean enumerable,
    boolean buffered,
    int names,
    long seed,
    boolean touch,
    LoadSettings frame,
    int worker) {
  /** Experiments in all. */
  public int rounds() {
    return dropped + experiments;
  }

  /** The same, with a size where none was given. */
  public BenchOptions<T> withSizeOr(long absent) {
    return size > 0 ? this : withSize((int) absent);
  }

  /** The same with another size. */
  public BenchOptions<T> withSize(int newSize) {
    return copy(newSize, seed, worker);
  }

  /** The same for one of the workers, which chooses at random for itself. */
  public BenchOptions<T> forWorker(int newWorker) {
    return copy(size, seed + newWorker, newWorker);
  }

  private BenchOptions<T> copy(int newSize, long newSeed, int newWorker) {
    return new BenchOptions<>(
        type,
        path,
        newSize,
        loop,
        batch,
        storageClass,
        locationClass,
        warmUp,
        dropped,
        experiments,
        keepOpen,
        enumerable,
        buffered,
        names,
        newSeed,
        touch,
        frame,
        newWorker);
  }

  /** All sizes that are measured, one after the other. */
  public List<Integer> sizes() {
    return frame.sizes().isEmpty() ? List.of(size) : frame.sizes();
  }

  /** The largest of the sizes that are measured. */
  public int largestSize() {
    return Collections.max(sizes());
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
      line.append(", size ");
      line.append(sizes().stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
    line.append(", loop ").append(loop).append(more).append(", seed ").append(seed);
    if (frame.threads() > 1) {
      line.append(", threads ").append(frame.threads());
    }
    if (frame.clients() > 1) {
      line.append(", clients ").append(frame.clients());
    }
    if (frame.isPaced()) {
      line.append(", rate ").append(LoadSettings.plain(frame.rate()));
    }
    return line.toString();
  }
}
