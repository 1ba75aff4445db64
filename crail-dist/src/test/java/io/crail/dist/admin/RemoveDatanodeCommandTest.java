/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is said of the bytes at a datanode that some namenodes hear of and others do not. */
class RemoveDatanodeCommandTest {
  private static String outcome(Integer... silentAt) {
    return RemoveDatanodeCommand.outcome(List.of(silentAt), Map.of(0, 1024L, 1, 2048L));
  }

  @Test
  void onlyBytesOfNamenodesThatDoNotHearOfItAreLost() {
    assertEquals(" is being removed; 3 KiB on it are still in use", outcome());
    assertEquals(
        " is being removed; 1 KiB on it are still in use; it was silent at namenodes [1], where 2"
            + " KiB are lost",
        outcome(1));
    assertEquals(" was silent and is removed; 3 KiB on it are lost", outcome(0, 1));
  }

  /** One that is down has said nothing of it, and is told later. */
  @Test
  void namenodesThatDoNotAnswerAreLeftOut() {
    assertEquals(
        " was silent and is removed; 1 KiB on it are lost",
        RemoveDatanodeCommand.outcome(List.of(0), Map.of(0, 1024L)));
  }
}
