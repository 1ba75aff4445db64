/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailSpace;
import io.crail.common.error.CrailException;
import io.crail.protocol.ClassUsage;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.Usage;
import java.util.ArrayList;
import java.util.List;

/** Adds up what the namenodes tell of their space. */
final class SpaceUsage {
  private SpaceUsage() {}

  /** Asks all namenodes at the same time. */
  static CrailSpace ask(NameNodeClient namenodes) throws CrailException, InterruptedException {
    List<OperationCall<Usage.Request, Usage.Response>> calls = new ArrayList<>();
    for (int i = 0; i < namenodes.count(); i++) {
      calls.add(namenodes.callAt(i, NameNodeOperations.USAGE, new Usage.Request()));
    }
    long capacity = 0;
    long free = 0;
    long used = 0;
    long waiting = 0;
    for (OperationCall<Usage.Request, Usage.Response> call : calls) {
      for (ClassUsage each : call.join().classes()) {
        capacity += each.capacityBytes();
        free += each.freeBytes();
        used += each.usedBytes();
        waiting += each.waitingBytes();
      }
    }
    return new CrailSpace(capacity, free, used, waiting);
  }
}
