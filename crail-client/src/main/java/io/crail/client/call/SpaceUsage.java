/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailSpace;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Asks the namenodes about their space, and adds up what they tell. */
public final class SpaceUsage {
  private static final List<ClassUsage> NOTHING = List.of();

  private SpaceUsage() {}

  /** Bytes of a block, as the first namenode says that has answered or answers now. */
  public static long blockBytes(LoopContext context) throws CrailException, InterruptedException {
    long known = knownBlockBytes(context);
    if (known == 0) {
      context.throttle();
      ask(context.namenodes());
      known = knownBlockBytes(context);
    }
    if (known == 0) {
      throw ErrorCode.UNAVAILABLE.exception("the connection to each namenode was lost");
    }
    return known;
  }

  private static long knownBlockBytes(LoopContext context) {
    for (int i = 0; i < context.namenodes().count(); i++) {
      if (context.blockBytesAt(i) > 0) {
        return context.blockBytesAt(i);
      }
    }
    return 0;
  }

  /** Asks all namenodes at the same time. */
  public static CrailSpace ask(NameNodeClient namenodes)
      throws CrailException, InterruptedException {
    Answers<Usage.Response> answers =
        Answers.of(namenodes, NameNodeOperations.USAGE, new Usage.Request());
    List<List<ClassUsage>> classes = new ArrayList<>();
    for (int i = 0; i < namenodes.count(); i++) {
      classes.add(answers.at(i) == null ? null : answers.at(i).classes());
    }
    return sum(classes, answers.missing());
  }

  /**
   * Adds up what the namenodes tell.
   *
   * @param classes what each namenode says of the classes that it has datanodes of; null for one
   *     that has not answered
   */
  static CrailSpace sum(List<List<ClassUsage>> classes, List<MissingNamenode> missing) {
    long capacity = 0;
    long free = 0;
    long used = 0;
    long waiting = 0;
    TreeSet<Integer> known = new TreeSet<>();
    for (List<ClassUsage> at : classes) {
      for (ClassUsage each : at == null ? NOTHING : at) {
        known.add(each.storageClass());
        capacity += each.capacityBytes();
        free += each.freeBytes();
        used += each.usedBytes();
        waiting += each.waitingBytes();
      }
    }
    List<CrailSpace.FreePart> parts = new ArrayList<>();
    for (int i = 0; i < classes.size(); i++) {
      if (classes.get(i) != null) {
        // A class without a datanode there is one without space there.
        TreeMap<Integer, Long> own = new TreeMap<>();
        known.forEach(each -> own.put(each, 0L));
        classes.get(i).forEach(each -> own.put(each.storageClass(), each.freeBytes()));
        for (Map.Entry<Integer, Long> each : own.entrySet()) {
          parts.add(new CrailSpace.FreePart(i, each.getKey(), each.getValue()));
        }
      }
    }
    return new CrailSpace(capacity, free, used, waiting, missing, parts);
  }
}
