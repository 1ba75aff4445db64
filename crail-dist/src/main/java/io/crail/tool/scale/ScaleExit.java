/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.tool.drain.DrainWork;
import io.crail.tool.scale.ScaleMember.Standing;
import io.crail.tool.scale.ScaleObservation.Ending;
import io.crail.tool.scale.ScaleRecord.Leaving;
import io.crail.tool.scale.ScaleRecord.Stage;
import java.util.Optional;

/**
 * The datanode that is to end, if any: it is drained, then its process is ended, or it is put back
 * into use. Used by one thread.
 */
final class ScaleExit {
  /** Renews the lease, and writes what is under way. */
  interface Hold {
    void hold() throws LeaseLostException, CrailException, InterruptedException;
  }

  private final Hold hold;
  private final ScaleWorld world;
  private final long patienceMillis;
  private final ScaleEvents events;

  private Leaving leaving;
  private DrainWork drain;
  private long leftBytes;
  private long movedMillis;
  private long undoMillis;
  private ScaleBackOff undos = new ScaleBackOff();

  /** The stop-hook that runs, if any. */
  private ScaleWorld.Hook hook;

  private ScaleBackOff stops = new ScaleBackOff();

  /**
   * Creates it.
   *
   * @param patienceMillis with a drain that moves nothing, and with one that cannot be undone
   * @param leaving what an earlier controller has begun to end
   */
  ScaleExit(
      Hold hold,
      ScaleWorld world,
      long patienceMillis,
      Optional<Leaving> leaving,
      ScaleEvents events) {
    this.hold = hold;
    this.world = world;
    this.patienceMillis = patienceMillis;
    this.leaving = leaving.orElse(null);
    this.undoMillis = world.millis();
    this.events = events;
  }

  /** The datanode, and how far it is. */
  Optional<Leaving> leaving() {
    return Optional.ofNullable(leaving);
  }

  /** How far it is, for a decision. */
  Ending ending() {
    if (leaving == null) {
      return Ending.NONE;
    }
    return leaving.stage() == Stage.DRAIN ? Ending.DRAINS : Ending.LEAVES;
  }

  /** The failures since something has succeeded. */
  int failures() {
    return undos.failures() + stops.failures();
  }

  /** Whether the stop-hook runs. */
  boolean runsHook() {
    return hook != null;
  }

  /** Begins to end a datanode. */
  void begin(ScaleMember member) throws LeaseLostException, CrailException, InterruptedException {
    leaving = new Leaving(member.uuid(), member.address(), Stage.DRAIN);
    try {
      hold.hold();
    } catch (LeaseLostException | CrailException | InterruptedException e) {
      leaving = null;
      throw e;
    }
    drain(member.usedBytes());
  }

  /** Looks how the stop-hook is. */
  void settleHook() {
    if (hook == null || !hook.isEnded()) {
      return;
    }
    Optional<String> failure = hook.failure();
    hook = null;
    if (failure.isPresent()) {
      stops.failed(world.millis());
      events.failed("stop-failed", leaving.address(), failure.get());
    } else {
      events.happened("stopped", leaving.address(), "has ended");
      left();
    }
  }

  private void drain(long bytes) {
    leftBytes = bytes;
    movedMillis = world.millis();
    drain = world.drain(leaving.uuid(), leaving.address());
  }

  /**
   * Goes on with it.
   *
   * @param isBusy whether another hook runs
   */
  void goOn(ScaleWorld.View view, boolean isBusy)
      throws LeaseLostException, CrailException, InterruptedException {
    if (leaving != null && leaving.stage() == Stage.DRAIN) {
      followDrain(view);
    }
    if (leaving != null && leaving.stage() == Stage.UNDO && !undos.waits(world.millis())) {
      tryUndo(view);
    }
    if (leaving != null
        && leaving.stage() == Stage.STOP
        && !isBusy
        && hook == null
        && !stops.waits(world.millis())) {
      if (view.isWhole()) {
        // That is from before an undo that may have done a part of its work.
        stop(world.look());
      } else {
        stopWaits();
      }
    }
  }

  /** Ends the datanode, unless it has data, or may have some. */
  private void stop(ScaleWorld.View view)
      throws LeaseLostException, CrailException, InterruptedException {
    String address = leaving.address();
    boolean isReplaced =
        view.members().stream()
            .anyMatch(
                each ->
                    each.address().equals(address)
                        && !each.uuid().equals(leaving.uuid())
                        && each.standing() != Standing.SILENT);
    if (isReplaced) {
      // Its supervisor has started it again: it gets data.
      events.happened("in-use", address, "serves again, so it is not ended");
      left();
    } else if (member(view).filter(each -> !each.isEmptied()).isPresent()) {
      events.happened("in-use", address, "has data, or may get some, so it is not ended");
      stage(Stage.UNDO);
    } else if (view.isWhole()) {
      hold.hold();
      hook = world.stop(leaving.uuid(), address);
    } else {
      stopWaits();
    }
  }

  private void stopWaits() {
    events.failed("stop-waits", leaving.address(), "ends when all namenodes know their datanodes");
  }

  private Optional<ScaleMember> member(ScaleWorld.View view) {
    return view.members().stream().filter(each -> each.uuid().equals(leaving.uuid())).findFirst();
  }

  private void followDrain(ScaleWorld.View view) throws InterruptedException {
    if (drain == null) {
      takeOver(view);
      return;
    }
    String address = leaving.address();
    switch (drain.outcome()) {
      case GOES_ON -> {
        long left = drain.leftBytes();
        if (left < leftBytes || left == 0) {
          leftBytes = left;
          movedMillis = world.millis();
        } else if (world.millis() - movedMillis > patienceMillis) {
          String what =
              left == Long.MAX_VALUE ? "has not begun" : ByteText.of(left) + " do not move";
          String why = what + ": " + drain.reason();
          stopDrain();
          events.failed("drain-failed", address, why);
          stage(Stage.UNDO);
        }
      }
      case EMPTY -> {
        events.happened("empty", address, "is drained");
        stage(Stage.STOP);
      }
      case LOST -> {
        events.failed("lost", address, drain.reason());
        stage(Stage.STOP);
      }
      case CANCELLED -> {
        events.happened("in-use", address, "its drain was cancelled by somebody else");
        left();
      }
      case FAILED -> {
        events.failed("drain-failed", address, drain.reason());
        stopDrain();
        stage(Stage.UNDO);
      }
    }
  }

  /** Goes on with what an earlier controller has begun. */
  private void takeOver(ScaleWorld.View view) {
    Optional<ScaleMember> member = member(view);
    if (member.isEmpty()) {
      if (view.isWhole()) {
        events.happened("empty", leaving.address(), "was drained before, and is gone");
        stage(Stage.STOP);
      }
    } else if (member.get().standing() == Standing.SERVES) {
      events.happened("in-use", leaving.address(), "was to be drained before, and is in use");
      left();
    } else {
      events.happened("drain", leaving.address(), "goes on with what was begun before");
      drain(member.get().usedBytes());
    }
  }

  /** Puts it back into use. */
  void undo(ScaleWorld.View view) throws LeaseLostException, CrailException, InterruptedException {
    stage(Stage.UNDO);
    tryUndo(view);
  }

  private void tryUndo(ScaleWorld.View view)
      throws LeaseLostException, CrailException, InterruptedException {
    // Which may take long, so the lease is looked at afterwards.
    stopDrain();
    hold.hold();
    String address = leaving.address();
    try {
      if (world.undo(leaving.uuid(), address)) {
        events.happened("in-use", address, "is in use again");
        left();
      } else {
        events.happened("empty", address, "had been drained already");
        stage(Stage.STOP);
      }
    } catch (CrailException e) {
      undos.failed(world.millis());
      if (view.isWhole() && world.millis() - undoMillis > patienceMillis) {
        String what = "; it is left as it is: 'crail drain --cancel' puts it back into use";
        events.failed("given-up", address, e.getMessage() + what);
        left();
      } else {
        events.failed("undo-failed", address, e.getMessage());
      }
    }
  }

  private void stage(Stage stage) {
    leaving = new Leaving(leaving.uuid(), leaving.address(), stage);
    undoMillis = world.millis();
    undos = new ScaleBackOff();
  }

  /** No datanode is to end any more. */
  private void left() {
    leaving = null;
    drain = null;
    undos = new ScaleBackOff();
    stops = new ScaleBackOff();
  }

  /** Ends all that goes on beside it, at once, and leaves the drain as it is. */
  void abandon() throws InterruptedException {
    if (hook != null) {
      hook.abort();
    }
    stopDrain();
  }

  /** Ends the work of this process for a drain, which stays begun. */
  void stopDrain() throws InterruptedException {
    if (drain != null) {
      drain.stop();
      drain = null;
    }
  }
}
