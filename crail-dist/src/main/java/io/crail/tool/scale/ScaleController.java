/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static io.crail.tool.scale.ScaleObservation.NEVER;

import io.crail.common.ByteText;
import io.crail.common.error.CrailException;
import io.crail.tool.scale.ScaleDecision.Kind;
import io.crail.tool.scale.ScaleObservation.Ending;
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
   * @param drainMillis with a drain that moves nothing, and with one that cannot be undone
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

  /** The start-hook that runs, if any, and the names that it starts. */
  private ScaleWorld.Hook hook;

  private List<String> hookNames = List.of();
  private final ScaleBackOff starts = new ScaleBackOff();

  /** The choose-hook that runs, if any, what it may name, and the decision that it is run for. */
  private ScaleWorld.Hook choice;

  private List<String> choices = List.of();
  private ScaleDecision choosing;
  private final ScaleBackOff chooses = new ScaleBackOff();

  private final ScaleExit exit;

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
    this.exit = new ScaleExit(this::hold, world, patience.drainMillis(), record.leaving(), events);
    record.orders().forEach(name -> orders.add(new Order(name, world.millis())));
  }

  /** What the next controller needs to know. */
  ScaleRecord record() {
    return new ScaleRecord(next, alive, orders.stream().map(Order::name).toList(), exit.leaving());
  }

  /** True when nothing is under way. */
  boolean isIdle() {
    return hook == null && choice == null && orders.isEmpty() && exit.ending() == Ending.NONE;
  }

  /** True when something has failed that is to be tried again. */
  boolean isFailing() {
    return starts.failures() + chooses.failures() + exit.failures() > 0;
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
    // Both the look and the announcement wait for a namenode that does not answer.
    hold();
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
    settleHooks();
    register(view);
    exit.goOn(view, hook != null);
    settleChoice(view);
    return view;
  }

  private void hold() throws LeaseLostException, CrailException, InterruptedException {
    lease.hold(record().text());
  }

  private ScaleObservation observation(ScaleWorld.View view) {
    return new ScaleObservation(
        world.millis(),
        view.members(),
        view.isWhole(),
        orders.size(),
        exit.ending(),
        addedMillis,
        lowMillis);
  }

  /** Whether a store that gets full will grow. */
  private boolean mayAdd(ScaleWorld.View view) {
    boolean grows =
        !orders.isEmpty()
            || exit.ending() == Ending.DRAINS
            || observation(view).alive() < limits.most();
    return grows && starts.failures() < HOPELESS;
  }

  private void follow(ScaleWorld.View view, ScaleDecision decision)
      throws LeaseLostException, CrailException, InterruptedException {
    if (decision.kind() == Kind.ADD && (runsHook() || starts.waits(world.millis()))) {
      String why = runsHook() ? "waits, since a hook runs" : "waits, since a start has failed";
      events.decided(decision, "waits", why);
      return;
    }
    switch (decision.kind()) {
      case HOLD -> events.held(decision);
      case ADD -> add(decision);
      case UNDO -> {
        events.decided(decision, "undo", "");
        exit.undo(view);
      }
      case DRAIN -> begin(view, decision);
    }
  }

  private void add(ScaleDecision decision)
      throws LeaseLostException, CrailException, InterruptedException {
    dropChoice();
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

  private boolean runsHook() {
    return hook != null || exit.runsHook();
  }

  /** Looks how the hooks are. */
  private void settleHooks() {
    if (hook != null && hook.isEnded()) {
      hook.failure().ifPresent(why -> startFailed(hookNames, why));
      hook = null;
      hookNames = List.of();
    }
    exit.settleHook();
  }

  private void startFailed(List<String> names, String why) {
    orders.removeIf(each -> names.contains(each.name()));
    starts.failed(world.millis());
    events.failed("start-failed", String.join(" ", names), why);
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
          starts.succeeded();
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

  private List<ScaleMember> candidates(ScaleObservation seen) {
    return seen.serving().stream()
        .filter(each -> policy.mayLeave(seen, each))
        .sorted(Comparator.comparingLong(ScaleMember::usedBytes))
        .toList();
  }

  /** Begins to end a datanode: asks which one. */
  private void begin(ScaleWorld.View view, ScaleDecision decision)
      throws LeaseLostException, CrailException, InterruptedException {
    if (runsHook() || choice != null || chooses.waits(world.millis())) {
      return;
    }
    String emptiest = decision.member().orElseThrow().address();
    List<String> addresses = new ArrayList<>(List.of(emptiest));
    candidates(observation(view)).stream()
        .map(ScaleMember::address)
        .filter(each -> !each.equals(emptiest))
        .forEach(addresses::add);
    choosing = decision;
    choices = addresses;
    choice = world.choose(addresses);
    settleChoice(view);
  }

  /** Drains the datanode that the choose-hook has named, if it may still leave. */
  private void settleChoice(ScaleWorld.View view)
      throws LeaseLostException, CrailException, InterruptedException {
    if (choice == null || !choice.isEnded()) {
      return;
    }
    Optional<String> failure = choice.failure();
    String chosen = failure.orElseGet(choice::lastLine).strip();
    choice = null;
    if (failure.isPresent() || !choices.contains(chosen)) {
      chooses.failed(world.millis());
      events.decided(
          choosing, "waits", "waits, since the choose-hook names no candidate: " + chosen);
      return;
    }
    chooses.succeeded();
    Optional<ScaleMember> member =
        candidates(observation(view)).stream()
            .filter(each -> each.address().equals(chosen))
            .findFirst();
    if (member.isEmpty() || !view.isWhole() || exit.ending() != Ending.NONE || !orders.isEmpty()) {
      // Things have changed while the hook ran.
      return;
    }
    exit.begin(member.get());
    boolean isEmptiest = chosen.equals(choices.get(0));
    events.decided(choosing, "drain", isEmptiest ? "" : "chosen: " + chosen);
  }

  private void dropChoice() {
    if (choice != null) {
      choice.abort();
      choice = null;
    }
  }

  /** Ends all that goes on beside it, at once, and leaves the drain as it is. */
  void abandon() throws InterruptedException {
    if (hook != null) {
      hook.abort();
    }
    dropChoice();
    exit.abandon();
  }

  /**
   * Ends in order: gives the hook that runs some time, and leaves the rest to the next controller.
   *
   * @param millis how long the hook may take
   */
  void end(long millis) throws LeaseLostException, CrailException, InterruptedException {
    dropChoice();
    exit.stopDrain();
    long deadline = world.millis() + millis;
    while (runsHook() && world.millis() < deadline) {
      world.sleep(POLL_MILLIS);
      settleHooks();
    }
    settleHooks();
    abandon();
    hold();
    world.announce(0);
    exit.leaving()
        .ifPresent(
            each ->
                events.happened(
                    "left",
                    each.address(),
                    "the next controller goes on with it; 'crail drain --cancel' puts it back into"
                        + " use"));
  }
}
