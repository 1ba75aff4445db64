/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import io.crail.common.Printable;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The options of one command, checked.
 *
 * @param <T> the types of the benchmark
 * @param type the type to measure
 * @param path the file or directory
 * @param size bytes of an operation; 0 means the configured buffer size
 * @param loop operations
 * @param batch operations in flight
 * @param storageClass storage class of created nodes
 * @param locationClass location class of created nodes
 * @param warmUp operations before the measured ones
 * @param dropped experiments before the measured ones
 * @param experiments measured experiments
 * @param keepOpen whether all experiments use one store
 * @param enumerable whether listings show created nodes
 * @param buffered whether buffered streams are used
 * @param names files in a directory, to choose from or to list
 * @param seed for all random choices
 * @param touch whether all bytes are moved once before the measurement
 * @param frame how the load is driven
 * @param worker the index of the worker; the first is 0
 * @param rehearsal whether the run is for the JVM alone, so that it prints nothing
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
    int worker,
    boolean rehearsal) {
  /** All experiments, with the dropped ones. */
  public int rounds() {
    return dropped + experiments;
  }

  /** The same options, with this size if they have none. */
  public BenchOptions<T> withSizeOr(long absent) {
    return size > 0 ? this : withSize((int) absent);
  }

  /** The same options with another size. */
  public BenchOptions<T> withSize(int newSize) {
    return copy(newSize, seed, worker, rehearsal);
  }

  /** The same options for one of the workers, with its own random choices. */
  public BenchOptions<T> forWorker(int newWorker) {
    return copy(size, seed + newWorker, newWorker, rehearsal);
  }

  /** The same options for a run that is not measured. It touches no memory before. */
  public BenchOptions<T> asRehearsal() {
    return copy(size, seed, worker, true);
  }

  private BenchOptions<T> copy(int newSize, long newSeed, int newWorker, boolean newRehearsal) {
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
        touch && !newRehearsal,
        frame,
        newWorker,
        newRehearsal);
  }

  /** All sizes to measure, in order. */
  public List<Integer> sizes() {
    return frame.sizes().isEmpty() ? List.of(size) : frame.sizes();
  }

  /** The largest size to measure. */
  public int largestSize() {
    return Collections.max(sizes());
  }

  /**
   * The options in one line, as they were understood.
   *
   * @param more the additional options of a benchmark, with a leading comma
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
