/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.conf;

import io.crail.common.DirectMemory;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.namenode.memory.ValueMemory;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.secret.SecurityKeys;
import java.util.ArrayList;
import java.util.List;

/**
 * The values of a namenode's configuration.
 *
 * @param index which of the namenodes this is, from 0
 * @param count how many there are
 * @param cluster name of the cluster
 * @param blockSize bytes
 * @param leaseNanos how long a location or write lease is valid
 * @param freeMarginNanos how long space rests after the end of a lease
 * @param offlineNanos how long a datanode may be silent
 * @param storageClasses number of classes
 * @param user the owner of the root
 * @param rootClass the root's class
 * @param spillOrder classes to try after a node's own; empty for all others
 * @param blockSelection the policy
 * @param maxLeases most write leases
 * @param memory most bytes of heap for all that is kept
 * @param smallValue most bytes of a small value; 0 for none
 * @param smallFiles whether data files may be small values too
 * @param smallValues most bytes outside the heap for small values
 * @param slowNanos operations that take at least this long are logged
 * @param ticketSeconds how long a client may log in at a datanode with one ticket
 */
public record NameNodeOptions(
    int index,
    int count,
    String cluster,
    int blockSize,
    long leaseNanos,
    long freeMarginNanos,
    long offlineNanos,
    int storageClasses,
    String user,
    int rootClass,
    List<Integer> spillOrder,
    BlockSelection.Provider blockSelection,
    int maxLeases,
    long memory,
    int smallValue,
    boolean smallFiles,
    long smallValues,
    long slowNanos,
    int ticketSeconds) {
  /** A datanode that has sent a sign of life within this many periods is taken to be alive. */
  private static final int PRESENT_KEEP_ALIVES = 2;

  /** An empty datanode is forgotten after this many times the time after which it is offline. */
  private static final int FORGOTTEN_OFFLINES = 10;

  /** The heap of a namenode that keeps nothing: classes, buffers and connections. */
  private static final long EMPTY_HEAP = 16L << 20;

  /** Small values may take this fraction of the memory outside the heap: 1/SMALL_VALUES_PART. */
  private static final long SMALL_VALUES_PART = 4;

  /**
   * Reads a configuration.
   *
   * @throws ConfigException when values contradict each other
   */
  public static NameNodeOptions of(Configuration conf, int index, int count) {
    int classes = conf.get(NameNodeKeys.STORAGE_CLASSES);
    int rootClass = conf.get(NameNodeKeys.ROOT_CLASS);
    if (rootClass >= classes) {
      throw new ConfigException(
          "key '"
              + NameNodeKeys.ROOT_CLASS.name()
              + "' is "
              + rootClass
              + ", but there are "
              + classes
              + " storage classes");
    }
    long heap = Runtime.getRuntime().maxMemory();
    long memory = conf.get(NameNodeKeys.MEMORY);
    long smallValues = smallValues(conf);
    long slowNanos = conf.get(NameNodeKeys.SLOW_OPERATION).toNanos();
    List<Integer> spillOrder = new ArrayList<>();
    for (String text : conf.get(NameNodeKeys.SPILL_ORDER)) {
      int storageClass = Integer.parseInt(text);
      if (storageClass >= classes || spillOrder.contains(storageClass)) {
        throw new ConfigException(
            "key '"
                + NameNodeKeys.SPILL_ORDER.name()
                + "' has the storage class "
                + storageClass
                + (storageClass >= classes ? ", but there are " + classes : " twice"));
      }
      spillOrder.add(storageClass);
    }
    return new NameNodeOptions(
        index,
        count,
        conf.get(ClusterKeys.CLUSTER_NAME),
        conf.get(NameNodeKeys.BLOCK_SIZE).intValue(),
        conf.get(NameNodeKeys.LEASE).toNanos(),
        conf.get(NameNodeKeys.FREE_MARGIN).toNanos(),
        conf.get(ClusterKeys.KEEP_ALIVE).toNanos() * ClusterKeys.MISSED_KEEP_ALIVES,
        classes,
        ClusterKeys.user(conf),
        rootClass,
        List.copyOf(spillOrder),
        BlockSelections.find(conf.get(NameNodeKeys.BLOCK_SELECTION)),
        conf.get(NameNodeKeys.MAX_LEASES),
        // The rest is the collector's, and for requests that are being served.
        memory == 0 ? Math.max(heap - EMPTY_HEAP, heap / 4) / 4 * 3 : memory,
        conf.get(NameNodeKeys.SMALL_VALUE).intValue(),
        conf.get(NameNodeKeys.SMALL_FILES),
        smallValues,
        slowNanos == 0 ? Long.MAX_VALUE : slowNanos,
        (int) conf.get(SecurityKeys.TICKET_TIME).toSeconds());
  }

  private static long smallValues(Configuration conf) {
    long direct = DirectMemory.mostBytes();
    long smallValues = conf.get(NameNodeKeys.SMALL_VALUES);
    if (smallValues == 0) {
      return direct / SMALL_VALUES_PART;
    }
    if (conf.get(NameNodeKeys.SMALL_VALUE) > 0 && ValueMemory.mostBytes(smallValues) > direct) {
      throw new ConfigException(
          "key '"
              + NameNodeKeys.SMALL_VALUES.name()
              + "' is "
              + smallValues
              + ", but Java allocates "
              + direct
              + " bytes outside the heap; see -XX:MaxDirectMemorySize");
    }
    return smallValues;
  }

  /** How long after a sign of life a datanode is taken to be alive. */
  public long presentNanos() {
    return offlineNanos / ClusterKeys.MISSED_KEEP_ALIVES * PRESENT_KEEP_ALIVES;
  }

  /** How long after its last sign of life a datanode without data is forgotten. */
  public long forgottenNanos() {
    return offlineNanos * FORGOTTEN_OFFLINES;
  }

  /** The classes that a node of {@code storageClass} may lie in, in the order of trying. */
  public int[] classOrder(int storageClass) {
    List<Integer> order = new ArrayList<>();
    order.add(storageClass);
    if (spillOrder.isEmpty()) {
      for (int i = 1; i < storageClasses; i++) {
        order.add((storageClass + i) % storageClasses);
      }
    } else {
      spillOrder.stream().filter(other -> other != storageClass).forEach(order::add);
    }
    return order.stream().mapToInt(Integer::intValue).toArray();
  }
}
