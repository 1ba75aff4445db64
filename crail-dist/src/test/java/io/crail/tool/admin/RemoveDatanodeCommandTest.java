/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.protocol.cluster.RemoveDatanode;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is reported of the bytes at a datanode that some namenodes hear of and others do not. */
class RemoveDatanodeCommandTest {
  private static RemoveDatanode.Response answer(boolean givenUp, long bytes) {
    return new RemoveDatanode.Response(1, givenUp, bytes);
  }

  private static String outcome(boolean first, boolean second) {
    return RemoveDatanodeCommand.outcome(Map.of(0, answer(first, 1024), 1, answer(second, 2048)));
  }

  @Test
  void onlyBytesOfNamenodesThatDoNotHearOfItAreLost() {
    assertEquals(" is being removed; 3 KiB on it are still in use", outcome(false, false));
    assertEquals(
        " is being removed; 1 KiB on it are still in use; it was silent at namenodes [1], where 2"
            + " KiB are lost",
        outcome(false, true));
    assertEquals(" was silent and is removed; 3 KiB on it are lost", outcome(true, true));
  }

  /**
   * One that is down learns of it later, and one that has forgotten it has nothing to say of it.
   */
  @Test
  void namenodesThatDoNotAnswerOrDoNotKnowItAreLeftOut() {
    assertEquals(
        " was silent and is removed; 1 KiB on it are lost",
        RemoveDatanodeCommand.outcome(Map.of(0, answer(true, 1024))));
    assertEquals(" is known to no namenode any more", RemoveDatanodeCommand.outcome(Map.of()));
  }
}
