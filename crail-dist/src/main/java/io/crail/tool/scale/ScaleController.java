/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static io.crail.tool.scale.ScaleObservation.NEVER;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.tool.drain.DrainWork;
import io.crail.tool.scale.ScaleDecision.Kind;
import io.crail.tool.scale.ScaleMember.Standing;
import io.crail.tool.scale.ScaleObservation.Ending;
import io.crail.tool.scale.ScaleRecord.Leaving;
import io.crail.tool.scale.ScaleRecord.Stage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Starts and ends datanodes as the policy says, step by step. It never waits long: hooks and a
 * drain go on beside it. Before each action it writes what it is about to do, which fails once the
 * lease is another one's. Used by one thread.
 */
final class ScaleController {
  private static final long LEAST_BACK_OFF_MILLIS = 5_000;
  private static final long MOST_BACK_OFF_MILLIS = 300_000;

  /** With so many failures in a row no writer should wait for the next attempt. */
  private static final int HOPELESS = 3;

  private static final long POLL_MILLIS = 50;

  /** The right to act. */
  interface Lease {
    /**
     * Renews the lease, and writes what is about to be done.
     *
     * @throws LeaseLostException when it is not held any more, or nearly so; then nothing is to be
     *     done, and the record was written at most while it was held
     * @throws CrailException when the namenode does not answer
     */
    void hold(String record) throws LeaseLostException, CrailException, InterruptedException;
  }

  /**
   * How patient a controller is.
   *
   * @param registerMillis with a datanode that was started, until it has registered
   * @param drainMillis with a drain that moves nothing
   * @param announceMillis how long writers may wait for the next announcement of space
   */
  record Patience(long registerMillis, long drainMillis, long announceMillis) {}

  /** A datanode that was ordered, by its name. */
  private record Order(String name, long sinceMillis) {}

  private final Lease lease;
  private final ScaleWorld world;
  private final ScalePolicy policy;
  private final ScaleLimits limits;
  private final Patience patience;
  private final String prefix;
  private final ScaleEvents events;

  private final Set<UUID> known = new HashSet<>();
  private final List<Order> orders = new ArrayList<>();
  private int next;
  private int alive;
  private boolean first = true;

  /** The hook that runs, if any, and the names that it starts; none if it ends a datanode. */
  private ScaleWorld.Hook hook;

  private List<String> hookNames = List.of();
  private long startAgainMillis = NEVER;
  private int startFailures;

  private Leaving leaving;
  private DrainWork drain;
  private long leftBytes;
  private long movedMillis;
  private long stopAgainMillis = NEVER;
  private int stopFailures;

  private long addedMillis = NEVER;
  private long lowMillis = NEVER;

  /**
   * Creates a controller that goes on where the last one ended.
   *
   * @param prefix what names of datanodes begin with
   */
  ScaleController(
      Lease lease,
      ScaleWorld world,
      ScaleLimits limits,
      Patience patience,
      String prefix,
      ScaleRecord record,
      ScaleEvents events) {
    this.lease = lease;
    this.world = world;
    this.limits = limits;
    this.policy = new ScalePolicy(limits);
    this.patience = patience;
    this.prefix = prefix;
    this.events = events;
    this.next = record.next();
    this.alive = record.alive();
    this.leaving = record.leaving().orElse(null);
    record.orders().forEach(name -> orders.add(new Order(name, world.millis())));
  }

  /** What the next controller needs to know. */
  ScaleRecord record() {
    return new ScaleRecord(
        next, alive, orders.stream().map(Order::name).toList(), Optional.ofNullable(leaving));
  }

  /** True when nothing is under way. */
  boolean isIdle() {
    return hook == null && orders.isEmpty() && leaving == null;
  }

  /** True when a hook has failed, and none has succeeded since. */
  boolean isFailing() {
    return startFailures > 0 || stopFailures > 0;
  }

  /**
   * Looks, decides and acts once.
   *
   * @throws LeaseLostException when another controller may have taken over
   * @throws CrailException when no namenode answers
   */
  void step() throws LeaseLostException, CrailException, InterruptedException {
    ScaleWorld.View view = goOn();
    ScaleDecision decision = policy.decide(observation(view));
    lowMillis = decision.lowMillis();
    follow(view, decision);
    world.announce(mayAdd(view) ? patience.announceMillis() : 0);
  }

  /**
   * Looks, and goes on with what is under way. Nothing new is begun.
   *
   * @throws LeaseLostException when another controller may have taken over
   * @throws CrailException when no namenode answers
   */
  ScaleWorld.View goOn() throws LeaseLostException, CrailException, InterruptedException {
    hold();
    ScaleWorld.View view = world.look();
    settleHook();
    register(view);
    leave(view);
    return view;
  }

  private void hold() throws LeaseLostException, CrailException, InterruptedException {
    lease.hold(record().text());
  }

  private ScaleObservation observation(ScaleWorld.View view) {
    Ending ending =
        leaving == null
            ? Ending.NONE
            : leaving.stage() == Stage.DRAIN ? Ending.DRAINS : Ending.LEAVES;
    return new ScaleObservation(
        world.millis(),
        view.members(),
        view.isWhole(),
        orders.size(),
        ending,
        addedMillis,
        lowMillis);
  }

  /** Whether a store that gets full will grow. */
  private boolean mayAdd(ScaleWorld.View view) {
    boolean grows =
        !orders.isEmpty()
            || leaving != null && leaving.stage() == Stage.DRAIN
            || observation(view).alive() < limits.most();
    return grows && startFailures < HOPELESS;
  }

  private void follow(ScaleWorld.View view, ScaleDecision decision)
      throws LeaseLostException, CrailException, InterruptedException {
    if (decision.kind() == Kind.ADD && (hook != null || world.millis() < startAgainMillis)) {
      String why = hook == null ? "waits, since a start has failed" : "waits, since a hook runs";
      events.decided(decision, "waits", why);
      return;
    }
    switch (decision.kind()) {
      case HOLD -> events.held(decision);
      case ADD -> add(decision);
      case UNDO -> {
        events.decided(decision, "undo", "");
        undo();
      }
      case DRAIN -> begin(view, decision);
    }
  }

  private void add(ScaleDecision decision)
      throws LeaseLostException, CrailException, InterruptedException {
    List<String> names = new ArrayList<>();
    int starting = orders.size();
    for (int i = 0; i < decision.count(); i++) {
      String name = prefix + next++;
      names.add(name);
      orders.add(new Order(name, world.millis()));
    }
    try {
      hold();
    } catch (LeaseLostException | CrailException | InterruptedException e) {
      orders.removeIf(each -> names.contains(each.name()));
      throw e;
    }
    events.decided(decision, "add", "as " + String.join(" ", names));
    addedMillis = world.millis();
    hookNames = names;
    hook = world.start(names, starting);
  }

  /** Looks how the hook is. */
  private void settleHook() {
    if (hook == null || !hook.isEnded()) {
      return;
    }
    Optional<String> failure = hook.failure();
    boolean starts = !hookNames.isEmpty();
    hook = null;
    if (starts) {
      failure.ifPresent(why -> startFailed(hookNames, why));
      hookNames = List.of();
    } else if (failure.isPresent()) {
      stopAgainMillis = world.millis() + backOff(++stopFailures);
      events.failed("stop-failed", leaving.address(), failure.get());
    } else {
      events.happened("stopped", leaving.address(), "has ended");
      left();
    }
  }

  private void startFailed(List<String> names, String why) {
    orders.removeIf(each -> names.contains(each.name()));
    startAgainMillis = world.millis() + backOff(++startFailures);
    events.failed("start-failed", String.join(" ", names), why);
  }

  private static long backOff(int failures) {
    return Math.min(MOST_BACK_OFF_MILLIS, LEAST_BACK_OFF_MILLIS << Math.min(failures - 1, 16));
  }

  /** Takes notice of datanodes that have registered, and of those that have not. */
  private void register(ScaleWorld.View view) {
    int running = observation(view).alive();
    for (ScaleMember each : view.members()) {
      if (known.add(each.uuid()) && !first) {
        if (!orders.isEmpty()) {
          events.happened(
              "registered",
              each.address(),
              ByteText.of(each.lentBytes()) + ", ordered as " + orders.remove(0).name());
          startFailures = 0;
        } else {
          events.happened("registered", each.address(), "not ordered here");
        }
      }
    }
    if (view.isWhole()) {
      known.retainAll(view.members().stream().map(ScaleMember::uuid).toList());
    }
    if (first) {
      // Those that came between two controllers.
      int more = Math.min(orders.size(), Math.max(0, running - alive));
      orders.subList(0, more).clear();
      first = false;
    }
    alive = running;
    long late = world.millis() - patience.registerMillis();
    List<String> missing =
        orders.stream()
            .filter(each -> each.sinceMillis() <= late && !hookNames.contains(each.name()))
            .map(Order::name)
            .toList();
    if (!missing.isEmpty()) {
      startFailed(missing, "not registered within " + patience.registerMillis() / 1000 + " s");
    }
  }

  /** Begins to end a datanode. */
  private void begin(ScaleWorld.View view, ScaleDecision decision)
      throws LeaseLostException, CrailException, InterruptedException {
    ScaleObservation seen = observation(view);
    List<ScaleMember> candidates =
        seen.serving().stream()
            .filter(each -> policy.mayLeave(seen, each))
            .sorted(Comparator.comparingLong(ScaleMember::usedBytes))
            .toList();
    String emptiest = decision.member().orElseThrow().address();
    List<String> addresses = new ArrayList<>(List.of(emptiest));
    candidates.stream()
        .map(ScaleMember::address)
        .filter(each -> !each.equals(emptiest))
        .forEach(addresses::add);
    String chosen = world.choose(addresses);
    Optional<ScaleMember> member =
        candidates.stream().filter(each -> each.address().equals(chosen)).findFirst();
    if (member.isEmpty()) {
      events.decided(
          decision, "waits", "waits, since the choose-hook names no candidate: " + chosen);
      return;
    }
    leaving = new Leaving(member.get().uuid(), chosen, Stage.DRAIN);
    try {
      hold();
    } catch (LeaseLostException | CrailException | InterruptedException e) {
      leaving = null;
      throw e;
    }
    events.decided(decision, "drain", chosen.equals(emptiest) ? "" : "chosen: " + chosen);
    drain(member.get().usedBytes());
  }

  private void drain(long bytes) {
    leftBytes = bytes;
    movedMillis = world.millis();
    drain = world.drain(leaving.uuid(), leaving.address());
  }

  /** Goes on with the datanode that is to end. */
  private void leave(ScaleWorld.View view)
      throws LeaseLostException, CrailException, InterruptedException {
    if (leaving != null && leaving.stage() == Stage.DRAIN) {
      followDrain(view);
    }
    if (leaving != null && leaving.stage() == Stage.UNDO) {
      undo();
    }
    if (leaving == null || leaving.stage() != Stage.STOP || hook != null) {
      return;
    }
    if (serves(view, leaving.address())) {
      // Its supervisor has started it again: it gets data.
      events.happened("in-use", leaving.address(), "serves again, so it is not ended");
      left();
    } else if (world.millis() >= stopAgainMillis) {
      hold();
      hook = world.stop(leaving.uuid(), leaving.address());
    }
  }

  private static boolean serves(ScaleWorld.View view, String address) {
    return view.members().stream()
        .anyMatch(each -> each.address().equals(address) && each.standing() == Standing.SERVES);
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
        } else if (world.millis() - movedMillis > patience.drainMillis()) {
          String what = ByteText.of(left) + " do not move: " + drain.reason();
          stopDrain();
          events.failed("drain-failed", address, what);
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
    Optional<ScaleMember> member =
        view.members().stream().filter(each -> each.uuid().equals(leaving.uuid())).findFirst();
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

  private void undo() throws LeaseLostException, CrailException, InterruptedException {
    stage(Stage.UNDO);
    hold();
    stopDrain();
    try {
      if (world.undo(leaving.uuid(), leaving.address())) {
        events.happened("in-use", leaving.address(), "is in use again");
        left();
      } else {
        events.happened("empty", leaving.address(), "had been drained already");
        stage(Stage.STOP);
      }
    } catch (CrailException e) {
      events.failed("undo-failed", leaving.address(), e.getMessage());
    }
  }

  private void stage(Stage stage) {
    leaving = new Leaving(leaving.uuid(), leaving.address(), stage);
  }

  /** No datanode is to end any more. */
  private void left() {
    leaving = null;
    drain = null;
    stopFailures = 0;
    stopAgainMillis = NEVER;
  }

  /** Ends all that goes on beside it, at once, and leaves the drain as it is. */
  void abandon() throws InterruptedException {
    if (hook != null) {
      hook.abort();
    }
    stopDrain();
  }

  /** Ends the work of this process for a drain, which stays begun. */
  private void stopDrain() throws InterruptedException {
    if (drain != null) {
      drain.stop();
      drain = null;
    }
  }

  /**
   * Ends in order: gives the hook that runs some time, and leaves the rest to the next controller.
   *
   * @param millis how long the hook may take
   */
  void end(long millis) throws LeaseLostException, CrailException, InterruptedException {
    stopDrain();
    long deadline = world.millis() + millis;
    while (hook != null && !hook.isEnded() && world.millis() < deadline) {
      world.sleep(POLL_MILLIS);
    }
    settleHook();
    abandon();
    hold();
    world.announce(0);
    if (leaving != null) {
      events.happened(
          "left",
          leaving.address(),
          "the next controller goes on with it; 'crail drain --cancel' puts it back into use");
    }
  }
}
