/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.scale.ScaleController.Patience;
import io.crail.tool.scale.ScaleRecord.Stage;
import io.crail.tool.scale.VirtualWorld.Node;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests what the controller does, in virtual time. */
class ScaleControllerTest {
  private static final long PERIOD = 3_000;
  private static final long GIB = VirtualWorld.GIB;

  private final VirtualWorld world = new VirtualWorld();
  private int most = 16;
  private ScaleController controller;

  private ScaleController controller() throws Exception {
    return new ScaleController(
        world,
        world,
        new ScaleLimits(0.8, 0.5, 0.7, 0, 1, most, 30_000),
        new Patience(60_000, 20_000, 30_000),
        "scale-",
        ScaleRecord.parse(world.record),
        world.events);
  }

  private void begin(int nodes, double load) throws Exception {
    for (int i = 0; i < nodes; i++) {
      world.serving();
    }
    world.load = load;
    controller = controller();
  }

  private void steps(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      controller.step();
      world.pass(PERIOD);
    }
  }

  private int count(String begin) {
    return (int) world.actions.stream().filter(each -> each.startsWith(begin)).count();
  }

  private boolean said(String part) {
    return world.lines.stream().anyMatch(each -> each.contains(part));
  }

  @Test
  void whatIsOrderedCountsWhenItHasRegistered() throws Exception {
    begin(4, 3.6 * GIB);
    steps(2);
    assertEquals(List.of("start scale-1 scale-2 beside 0"), world.actions);
    assertEquals(List.of("scale-1", "scale-2"), ScaleRecord.parse(world.record).orders());
    steps(4);
    assertEquals(List.of(), ScaleRecord.parse(world.record).orders());
    assertTrue(said("registered: host:4 1 GiB, ordered as scale-1"), world.lines::toString);
    assertEquals(1, count("start"));
    assertTrue(controller.isIdle());
  }

  @Test
  void aStartThatFailsIsReportedAndTriedAgainLater() throws Exception {
    world.startFailure = Optional.of("the hook has ended with 3");
    begin(1, 0.9 * GIB);
    steps(20);
    // After 5 s, 10 s, 20 s, 40 s.
    assertEquals(4, count("start"), world.actions::toString);
    assertTrue(said("start-failed: scale-1: the hook has ended with 3"), world.lines::toString);
    assertTrue(controller.isFailing());
    assertEquals(0, world.announced, "no writer should wait for that");
    world.startFailure = Optional.empty();
    steps(30);
    assertEquals(2, world.servingCount());
    assertFalse(controller.isFailing());
    assertEquals(30_000, world.announced);
  }

  @Test
  void aStartThatNeverRegistersHasFailed() throws Exception {
    world.registers = false;
    begin(1, 0.9 * GIB);
    steps(20);
    assertEquals(1, count("start"));
    steps(2);
    assertTrue(said("start-failed: scale-1: not registered within 60 s"), world.lines::toString);
    steps(4);
    assertEquals(2, count("start"));
    assertEquals(List.of("scale-2"), ScaleRecord.parse(world.record).orders());
  }

  @Test
  void aDatanodeEndsWhenItIsEmptyAndNotBefore() throws Exception {
    begin(3, 0.9 * GIB);
    world.drainBytesPerMilli = GIB / 20e3;
    steps(11);
    assertEquals(List.of("drain host:0"), world.actions);
    assertEquals(Stage.DRAIN, ScaleRecord.parse(world.record).leaving().orElseThrow().stage());
    steps(1);
    assertEquals(1, world.actions.size());
    steps(4);
    // The next one would leave 90 %.
    assertEquals(List.of("drain host:0", "stop host:0"), world.actions);
    steps(40);
    assertEquals(2, world.actions.size());
    assertTrue(controller.isIdle());
  }

  @Test
  void oneAfterTheOtherGoesWithoutAnotherWindow() throws Exception {
    begin(8, 0.4 * GIB);
    steps(40);
    assertEquals(7, count("drain"));
    assertEquals(7, count("stop "));
    assertEquals(1, world.servingCount());
  }

  @Test
  void aDrainThatMovesNothingIsUndone() throws Exception {
    world.drainBytesPerMilli = 0;
    begin(3, 0.9 * GIB);
    steps(20);
    assertEquals(List.of("drain host:0", "stop draining host:0", "undo host:0"), world.actions);
    assertTrue(
        said("drain-failed: host:0: 307.2 MiB do not move: no space"), () -> "" + world.lines);
    assertTrue(said("in-use: host:0 is in use again"));
    assertEquals(3, world.servingCount());
  }

  @Test
  void aDrainThatDoesNotBeginIsUndone() throws Exception {
    world.drainBytesPerMilli = 0;
    world.drainsBegin = false;
    begin(3, 0.9 * GIB);
    steps(20);
    assertTrue(said("drain-failed: host:0: has not begun: no space"), world.lines::toString);
    assertEquals(3, world.servingCount());
  }

  @Test
  void aPeakPutsTheDrainingDatanodeBackIntoUse() throws Exception {
    world.drainBytesPerMilli = GIB / 100e3;
    begin(3, 0.9 * GIB);
    steps(11);
    assertEquals(1, count("drain host:0"));
    world.load = 2.7 * GIB;
    steps(1);
    assertEquals(1, count("undo host:0"));
    assertEquals(3, world.servingCount());
    assertEquals(0, count("start"));
    steps(1);
    assertEquals(1, count("start"));
  }

  @Test
  void theNextControllerContinuesADrain() throws Exception {
    world.drainBytesPerMilli = GIB / 100e3;
    begin(3, 0.9 * GIB);
    // Somebody else drains this one.
    Node foreign = world.serving();
    foreign.drains = true;
    steps(12);
    assertEquals(List.of("drain host:0"), world.actions);
    controller = controller();
    steps(1);
    assertEquals(List.of("drain host:0", "drain host:0"), world.actions);
    steps(40);
    assertEquals(List.of("drain host:0", "drain host:0", "stop host:0"), world.actions);
    assertTrue(world.nodes.contains(foreign));
  }

  @Test
  void theNextControllerEndsWhatIsDrainedAndGone() throws Exception {
    begin(3, 0.9 * GIB);
    steps(11);
    // It ends by itself, and the controller dies.
    world.nodes.remove(0);
    controller = controller();
    world.isWhole = false;
    steps(1);
    assertEquals(0, count("stop "), "who is missing may be known elsewhere");
    world.isWhole = true;
    steps(1);
    assertEquals(1, count("stop host:0"));
    steps(1);
    assertTrue(controller.isIdle());
  }

  @Test
  void theNextControllerCountsWhatWasOrdered() throws Exception {
    begin(4, 3.6 * GIB);
    steps(1);
    assertEquals(1, count("start"));
    controller = controller();
    steps(1);
    assertEquals(1, count("start"), "two are on their way");
    controller = null;
    world.pass(8_000);
    controller = controller();
    steps(1);
    assertTrue(controller.isIdle(), world.record);
  }

  @Test
  void whoHasLostTheLeaseDoesNothing() throws Exception {
    begin(1, 0.5 * GIB);
    steps(1);
    world.load = GIB;
    world.isLeaseLost = true;
    assertThrows(LeaseLostException.class, () -> steps(1));
    assertEquals(List.of(), world.actions);
  }

  @Test
  void aStopThatFailsIsTriedAgain() throws Exception {
    world.stopFailure = Optional.of("the hook has ended with 1");
    begin(3, 0.9 * GIB);
    steps(14);
    assertEquals(1, count("stop host:0"));
    assertTrue(said("stop-failed: host:0: the hook has ended with 1"), world.lines::toString);
    world.load = 2.0 * GIB;
    steps(2);
    assertEquals(1, count("start"), "the controller goes on");
    world.stopFailure = Optional.empty();
    steps(5);
    assertEquals(3, count("stop host:0"));
    steps(5);
    assertTrue(controller.isIdle(), world.record);
  }

  @Test
  void aDatanodeThatWasStartedAgainIsNotEnded() throws Exception {
    world.stopFailure = Optional.of("the hook has ended with 1");
    begin(3, 0.9 * GIB);
    steps(13);
    assertEquals(1, count("stop host:0"));
    // As by Kubernetes: another process at the same address, which gets data.
    world.nodes.remove(0);
    world.nodes.add(new Node("host:0", 99, world.now));
    steps(10);
    assertEquals(1, count("stop host:0"));
    assertTrue(said("in-use: host:0 serves again, so it is not ended"), world.lines::toString);
    assertEquals(3, world.servingCount());
  }

  @Test
  void theEndGivesAHookSomeTime() throws Exception {
    world.hookMillis = 1_000;
    begin(1, 0.9 * GIB);
    steps(1);
    controller.end(8_000);
    assertEquals(0, count("abort"));
    assertEquals(List.of("scale-1"), ScaleRecord.parse(world.record).orders());
    assertEquals(0, world.announced);
  }

  @Test
  void theEndWaitsNoLongerThanItMay() throws Exception {
    world.hookMillis = 60_000;
    begin(1, 0.9 * GIB);
    controller.step();
    long before = world.now;
    controller.end(8_000);
    assertEquals(1, count("abort"));
    assertEquals(8_000, world.now - before);
  }

  @Test
  void theEndLeavesADrainToTheNextController() throws Exception {
    world.drainBytesPerMilli = GIB / 100e3;
    begin(3, 0.9 * GIB);
    steps(12);
    controller.end(8_000);
    assertTrue(said("left: host:0 the next controller goes on with it"), world.lines::toString);
    assertEquals(0, count("undo"));
    assertEquals(Stage.DRAIN, ScaleRecord.parse(world.record).leaving().orElseThrow().stage());
  }

  @Test
  void anotherOneThanTheEmptiestMayBeChosen() throws Exception {
    world.chosen = "host:2";
    begin(3, 0.9 * GIB);
    steps(11);
    assertEquals(1, count("drain host:2"));
  }

  @Test
  void onlyACandidateMayBeChosen() throws Exception {
    world.chosen = "the last pod may not leave";
    begin(3, 0.9 * GIB);
    steps(20);
    assertEquals(List.of(), world.actions);
    assertTrue(said("the choose-hook names no candidate: the last pod may not leave"));
  }

  /** Begins a drain that takes long, with two namenodes. */
  private Node drainOfTwoNamenodes() throws Exception {
    world.namenodes = 2;
    world.drainBytesPerMilli = GIB / 1000e3;
    begin(3, 0.9 * GIB);
    steps(11);
    assertEquals(List.of("drain host:0"), world.actions);
    return world.nodes.get(0);
  }

  @Test
  void aDatanodeThatIsForgottenAndComesBackIsNotEnded() throws Exception {
    Node node = drainOfTwoNamenodes();
    // Both namenodes restart, and have yet to hear of it.
    node.unknownAt.addAll(List.of(0, 1));
    world.load = 2.7 * GIB;
    world.isWhole = false;
    steps(3);
    assertTrue(said("host:0 had been drained already"), world.lines::toString);
    assertTrue(said("stop-waits: host:0"), world.lines::toString);
    // It registers as one that is being drained.
    node.unknownAt.clear();
    world.isWhole = true;
    steps(3);
    assertEquals(0, count("stop host:0"));
    assertFalse(node.drains);
    assertTrue(said("in-use: host:0 is in use again"), world.lines::toString);
  }

  @Test
  void aDrainThatIsHalfUndoneIsUndoneWholly() throws Exception {
    Node node = drainOfTwoNamenodes();
    node.unknownAt.add(0);
    world.load = 2.7 * GIB;
    steps(1);
    assertEquals(1, count("undo host:0"));
    assertEquals(Set.of(1), node.usedAt);
    steps(1);
    assertEquals(1, count("undo host:0"), "not before 5 s have passed");
    node.unknownAt.clear();
    steps(4);
    assertEquals(0, count("stop host:0"));
    assertEquals(2, count("undo host:0"));
    assertFalse(node.drains);
    assertFalse(ScaleRecord.parse(world.record).leaving().isPresent(), world.record);
  }

  @Test
  void whatGetsDataAtOneNamenodeIsNotEnded() throws Exception {
    Node node = drainOfTwoNamenodes();
    world.drainBytesPerMilli = GIB;
    world.isWhole = false;
    steps(2);
    assertEquals(Stage.STOP, ScaleRecord.parse(world.record).leaving().orElseThrow().stage());
    // Somebody else has begun to put it back into use.
    world.isWhole = true;
    node.usedAt.add(1);
    steps(2);
    assertEquals(0, count("stop host:0"));
    assertTrue(said("in-use: host:0 has data, or may get some, so it is not ended"));
    assertFalse(node.drains);
    assertEquals(3, world.servingCount());
  }

  @Test
  void aDatanodeThatDiesDuringItsDrainIsGivenUp() throws Exception {
    Node node = drainOfTwoNamenodes();
    node.isSilent = true;
    steps(30);
    assertTrue(said("undo-failed: host:0: not reachable: host:0 is silent"), world.lines::toString);
    assertTrue(said("given-up: host:0: not reachable: host:0 is silent"), world.lines::toString);
    assertTrue(controller.isIdle(), world.record);
    assertFalse(controller.isFailing());
    // At once, and after 5 s, 10 s and 20 s.
    assertEquals(4, count("undo host:0"), world.actions::toString);
    assertEquals(0, count("stop host:0"));
    world.load = 0.4 * GIB;
    world.drainBytesPerMilli = GIB;
    steps(15);
    assertEquals(1, count("stop host:1"), "the next one may go");
  }

  @Test
  void aStepDoesNotWaitForTheChooseHook() throws Exception {
    world.hookMillis = 10_000;
    begin(3, 0.9 * GIB);
    steps(11);
    assertEquals(1, world.chooses);
    assertEquals(List.of(), world.actions);
    steps(4);
    assertEquals(1, world.chooses);
    assertEquals(1, count("drain host:0"));
  }

  @Test
  void aPeakEndsTheChooseHook() throws Exception {
    world.hookMillis = 60_000;
    begin(3, 0.9 * GIB);
    steps(11);
    world.load = 2.7 * GIB;
    steps(1);
    assertEquals("abort", world.actions.get(0));
    assertEquals(1, count("start"));
  }

  @Test
  void aChooseHookThatFailsIsRunAgainLater() throws Exception {
    world.chooseFailure = Optional.of("the hook has ended with 1: no pod");
    begin(3, 0.9 * GIB);
    steps(20);
    // At 30 s, and after 5 s, 10 s.
    assertEquals(3, world.chooses);
    assertTrue(controller.isFailing());
    assertTrue(said("names no candidate: the hook has ended with 1: no pod"));
    world.chooseFailure = Optional.empty();
    steps(10);
    assertEquals(1, count("drain host:0"));
    assertFalse(controller.isFailing());
  }

  /** One that does not answer costs a look and an announcement the deadline of a call each. */
  @Test
  void aNamenodeThatIsDarkDoesNotCostTheLease() throws Exception {
    world.leaseMillis = 15_000;
    world.lookMillis = 10_000;
    world.announcingMillis = 10_000;
    begin(1, 0.9 * GIB);
    steps(20);
    assertEquals(1, count("start"));
  }

  @Test
  void aLeaseThatRunsOutWhileADrainIsStoppedUndoesNothing() throws Exception {
    world.drainBytesPerMilli = GIB / 100e3;
    begin(3, 0.9 * GIB);
    steps(11);
    world.leaseMillis = 15_000;
    world.drainEndMillis = 20_000;
    world.load = 2.7 * GIB;
    assertThrows(LeaseLostException.class, () -> steps(1));
    assertEquals(0, count("undo"));
  }

  @Test
  void writersWaitOnlyForSpaceThatMayCome() throws Exception {
    most = 2;
    begin(1, 0.5 * GIB);
    steps(1);
    assertEquals(30_000, world.announced);
    world.load = GIB;
    steps(2);
    assertEquals(30_000, world.announced, "it is on its way");
    world.load = 2 * GIB;
    steps(5);
    assertEquals(2, world.servingCount());
    assertEquals(0, world.announced, "there are --most");
  }

  @Test
  void aRecordIsReadAsItWasWritten() {
    ScaleRecord.Leaving leaving =
        new ScaleRecord.Leaving(new java.util.UUID(1, 2), "[::1]:50020", Stage.UNDO);
    ScaleRecord record = new ScaleRecord(7, 3, List.of("a-1", "a-2"), Optional.of(leaving));
    assertEquals(record, ScaleRecord.parse(record.text()));
    assertEquals(ScaleRecord.FIRST, ScaleRecord.parse(""));
    assertEquals(ScaleRecord.FIRST, ScaleRecord.parse("later 1 2 3\n"));
    for (String damaged : List.of("next\n", "next x\n", "leaving\n", "leaving 1 2\n")) {
      assertThrows(IllegalArgumentException.class, () -> ScaleRecord.parse(damaged), damaged);
    }
  }
}
