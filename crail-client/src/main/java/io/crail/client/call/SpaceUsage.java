/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailSpace;
import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import java.util.ArrayList;
import java.util.List;

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
    long capacity = 0;
    long free = 0;
    long used = 0;
    long waiting = 0;
    List<CrailSpace.FreePart> parts = new ArrayList<>();
    for (int i = 0; i < namenodes.count(); i++) {
      for (ClassUsage each : answers.at(i) == null ? NOTHING : answers.at(i).classes()) {
        parts.add(new CrailSpace.FreePart(i, each.storageClass(), each.freeBytes()));
        capacity += each.capacityBytes();
        free += each.freeBytes();
        used += each.usedBytes();
        waiting += each.waitingBytes();
      }
    }
    return new CrailSpace(capacity, free, used, waiting, answers.missing(), parts);
  }
}
