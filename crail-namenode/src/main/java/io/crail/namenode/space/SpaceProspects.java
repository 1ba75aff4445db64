/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.ByteText;
import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Says whether space will come by itself to a node that has found none. Thread-safe. */
final class SpaceProspects {
  /** How long writers are asked to wait for a datanode that keeps its bytes and is away. */
  private static final long RETURN_NANOS = 60_000_000_000L;

  private final NameNodeOptions options;
  private final Clock clock;
  private final RestingRegions resting;
  private final long startNanos;

  /** By class, until when somebody starts datanodes if space runs out; since the start. */
  private final AtomicLongArray announcedNanos;

  /** Whether a datanode has lent what another namenode, or this one before a restart, had. */
  private volatile boolean hasTakenOver;

  SpaceProspects(NameNodeOptions options, Clock clock, RestingRegions resting) {
    this.options = options;
    this.clock = clock;
    this.resting = resting;
    this.startNanos = clock.nanoTime();
    this.announcedNanos = new AtomicLongArray(options.storageClasses());
  }

  /** Notes for how long somebody starts datanodes of a class if its space runs out. */
  void announce(int storageClass, long millis) {
    announcedNanos.set(storageClass, clock.nanoTime() - startNanos + millis * 1_000_000);
  }

  /** Notes that space has come that another namenode had. */
  void takeOver() {
    hasTakenOver = true;
  }

  /**
   * The error of a node that has found no space.
   *
   * @param what the owner of the space, for the error
   * @param where from which classes it takes space, for the error
   * @param datanodes all that are in use
   * @param takesPart which datanodes may have space for the node
   * @param takes from which classes the node takes space
   */
  CrailException shortage(
      Object what,
      String where,
      Collection<DatanodeSpace> datanodes,
      Predicate<DatanodeSpace> takesPart,
      IntPredicate takes) {
    String prospect = prospect(datanodes, takesPart, takes);
    ErrorCode code = prospect.isEmpty() ? ErrorCode.NO_SPACE : ErrorCode.SPACE_TO_COME;
    String place =
        datanodes.isEmpty()
            ? "no datanode takes data; start one with 'crail datanode', or see 'crail datanodes'"
            : where;
    return code.exception(what + ": " + place + prospect);
  }

  /** What space will come by itself; empty when none is known to. */
  private String prospect(
      Collection<DatanodeSpace> datanodes, Predicate<DatanodeSpace> takesPart, IntPredicate takes) {
    String regions = resting.prospect(takesPart);
    if (!regions.isEmpty()) {
      return regions;
    }
    long now = clock.nanoTime();
    long waiting =
        datanodes.stream()
            .filter(takesPart)
            .filter(datanode -> datanode.isOnline(now, options.offlineNanos()))
            .mapToLong(DatanodeSpace::waitingBytes)
            .sum();
    if (waiting > 0) {
      return "; " + ByteText.of(waiting) + " come when no client may use them any more";
    }
    if (datanodes.stream().filter(takesPart).anyMatch(each -> isToReturn(each, now))) {
      return "; a datanode with space is away, and keeps its bytes, so that it may return";
    }
    long age = now - startNanos;
    if (IntStream.range(0, announcedNanos.length())
        .anyMatch(each -> takes.test(each) && announcedNanos.get(each) > age)) {
      return "; 'crail scale' starts datanodes when space runs out";
    }
    return mayMissDatanodes(datanodes, now)
        ? "; this namenode began " + age / 1_000_000 + " ms ago, and datanodes may be on their way"
        : "";
  }

  /** True when a datanode that keeps its bytes has gone lately, and has space. */
  private boolean isToReturn(DatanodeSpace datanode, long now) {
    return datanode.keeping().keeps()
        && !datanode.isOnline(now, options.presentNanos())
        && datanode.isOnline(now, RETURN_NANOS)
        && datanode.freeBytes() > 0;
  }

  /**
   * True as long as datanodes may not have noticed yet that this namenode serves. It misses none
   * when it has space and none of it was another namenode's.
   */
  private boolean mayMissDatanodes(Collection<DatanodeSpace> datanodes, long now) {
    return now - startNanos < options.offlineNanos()
        && (hasTakenOver || datanodes.stream().allMatch(each -> each.totalBlocks() == 0));
  }
}
