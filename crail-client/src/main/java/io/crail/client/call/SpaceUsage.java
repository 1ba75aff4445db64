/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailSpace;
import io.crail.common.error.CrailException;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;

/** Adds up what the namenodes tell of their space. */
public final class SpaceUsage {
  private SpaceUsage() {}

  /** Asks all namenodes at the same time. */
  public static CrailSpace ask(NameNodeClient namenodes)
      throws CrailException, InterruptedException {
    Answers<Usage.Response> answers =
        Answers.of(namenodes, NameNodeOperations.USAGE, new Usage.Request());
    long capacity = 0;
    long free = 0;
    long used = 0;
    long waiting = 0;
    for (Usage.Response answer : answers.present()) {
      for (ClassUsage each : answer.classes()) {
        capacity += each.capacityBytes();
        free += each.freeBytes();
        used += each.usedBytes();
        waiting += each.waitingBytes();
      }
    }
    return new CrailSpace(capacity, free, used, waiting, answers.missing());
  }
}
