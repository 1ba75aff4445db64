/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import io.crail.testkit.sim.SimulatedDatanode;
import io.crail.testkit.sim.SimulatedNamenode;
import io.crail.testkit.sim.SimulatedNetwork;
import io.crail.testkit.sim.SimulatedTier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The faults: some in each storm, one after the other or at the same time. */
final class Nemesis {
  /** A fault takes so long at most. */
  static final Duration LONGEST = Duration.ofSeconds(6);

  private static final Duration FAST = Duration.ofNanos(10_000);
  private static final Duration USUAL = Duration.ofMillis(2);
  private static final int MOST_FAULTS = 8;
  private static final int FAULTS = 24;
  // Faults from this number on may last longer than a lease.
  private static final int FIRST_LONG = 19;
  private static final int LAST_LONG = 22;
  private static final int LEASE_MILLIS = (int) ClusterSimulation.LEASE.toMillis();

  private record Pair(String a, String b) {}

  private final ClusterSimulation simulation;
  private final SimulatedNetwork network;
  private final Random random;
  private final Outages outages;
  private final List<Pair> partitions = new ArrayList<>();
  private final List<String> paused = new ArrayList<>();
  private final List<String> history = new ArrayList<>();
  private int storm;

  Nemesis(ClusterSimulation simulation) {
    this.simulation = simulation;
    this.network = simulation.network();
    this.random = simulation.random();
    this.outages = simulation.world().outages();
  }

  /** The faults so far, one a line. */
  String history() {
    return String.join("", history);
  }

  /** Plans faults for the next span of time. */
  void storm(Duration span) {
    storm++;
    int faults = 1 + random.nextInt(MOST_FAULTS);
    for (int i = 0; i < faults; i++) {
      later(millis(1, span.toMillis() / 2), this::fault);
    }
  }

  private void later(Duration delay, Runnable what) {
    int mine = storm;
    network.schedule(
        delay,
        () -> {
          if (storm == mine) {
            what.run();
          }
        });
  }

  private Duration millis(long least, long most) {
    return Duration.ofMillis(least + random.nextInt((int) Math.max(1, most - least)));
  }

  private <T> T any(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private void fault() {
    Duration span = millis(50, random.nextInt(3) > 0 ? 1_500 : LONGEST.toMillis());
    SimulatedUser user = any(simulation.users());
    SimulatedNamenode namenode = any(simulation.namenodes());
    SimulatedDatanode datanode = any(simulation.datanodes());
    int which = random.nextInt(FAULTS);
    if (which >= FIRST_LONG && which <= LAST_LONG) {
      span = millis(LEASE_MILLIS, 3 * LEASE_MILLIS);
    }
    network.note(which);
    String what = fault(which, user, namenode, datanode, span);
    history.add(
        "  at " + simulation.now() / 1_000 + " us for " + span.toMillis() + " ms: " + what + "\n");
  }

  private String fault(
      int which,
      SimulatedUser user,
      SimulatedNamenode namenode,
      SimulatedDatanode datanode,
      Duration span) {
    switch (which) {
      case 0:
        network.silence(user.host(), namenode.host());
        return "silence " + user.host() + " " + namenode.host();
      case 1:
        network.cut(user.host(), namenode.host());
        return "cut " + user.host() + " " + namenode.host();
      case 2, 3:
        return isolate(user, namenode, span);
      case 4, 5:
        return delay(user.host(), namenode.host(), span);
      case 6:
        return partition(user.host(), datanode.host(), span);
      case 7:
        return partition(datanode.host(), namenode.host(), span);
      case 8:
        return delay(datanode.host(), namenode.host(), span);
      case 9:
        return breakConnections(span);
      case 10:
        return slowNetwork(span);
      case 11:
        return slowData(span);
      case 12:
        return loseAnswers(span);
      case 13, 14:
        return pause(user.host(), span);
      case 15:
        return pause(namenode.host(), span);
      case 16:
        return pause(datanode.host(), span);
      case 17:
        return killUser(user);
      case 18:
        return killNamenode(namenode, span);
      case 19, 20:
        return isolate(user, namenode, span);
      case 21, 22:
        return isolateWholly(user, span);
      default:
        return killDatanode(datanode, span);
    }
  }

  private String delay(String a, String b, Duration span) {
    network.delay(a, b, span);
    return "delay " + a + " " + b;
  }

  /** Cuts a client off from a namenode. */
  private String isolate(SimulatedUser user, SimulatedNamenode namenode, Duration span) {
    Pair pair = new Pair(user.host(), namenode.host());
    if (partitions.contains(pair)) {
      return "nothing";
    }
    outages.begin(pair.a, pair.b, simulation.now());
    return partition(pair.a, pair.b, span);
  }

  /** Cuts a client off from everything, in the middle of its writes. */
  private String isolateWholly(SimulatedUser user, Duration span) {
    simulation.namenodes().forEach(namenode -> isolate(user, namenode, span));
    simulation.datanodes().forEach(datanode -> partition(user.host(), datanode.host(), span));
    return "isolate " + user.host();
  }

  private void reunite(Pair pair) {
    if (partitions.remove(pair)) {
      network.heal(pair.a, pair.b);
      if (pair.b.startsWith("namenode") && pair.a.startsWith("client")) {
        outages.end(pair.a, pair.b, simulation.now());
      }
    }
  }

  private String partition(String a, String b, Duration span) {
    Pair pair = new Pair(a, b);
    if (!partitions.contains(pair)) {
      network.partition(a, b);
      partitions.add(pair);
      later(span, () -> reunite(pair));
    }
    return "partition " + a + " " + b;
  }

  private String breakConnections(Duration span) {
    network.breakConnections(random.nextDouble() / 10);
    later(span, () -> network.breakConnections(0));
    return "break connections";
  }

  private String slowNetwork(Duration span) {
    network.latency(FAST, millis(1, 400));
    later(span, () -> network.latency(FAST, USUAL));
    return "slow network";
  }

  private String slowData(Duration span) {
    Duration most = millis(1, 250);
    simulation.tiers().forEach(tier -> tier.latency(FAST, most));
    later(span, () -> simulation.tiers().forEach(tier -> tier.latency(FAST, USUAL)));
    return "slow data";
  }

  private String loseAnswers(Duration span) {
    double probability = random.nextDouble() / 4;
    for (SimulatedTier tier : simulation.tiers()) {
      // With both halves of a transfer this is less than the margin.
      tier.loseAnswers(probability, Duration.ofMillis(300));
    }
    later(span, this::answerAlways);
    return "lose answers of data";
  }

  private void answerAlways() {
    simulation.tiers().forEach(tier -> tier.loseAnswers(0, Duration.ZERO));
  }

  private String pause(String host, Duration span) {
    if (network.isPaused(host) || network.isDead(host)) {
      return "nothing";
    }
    network.pause(host);
    paused.add(host);
    outage(host, true);
    simulation.users().stream().filter(u -> u.host().equals(host)).forEach(SimulatedUser::paused);
    later(span, () -> resume(host));
    return "pause " + host;
  }

  /** A paused client receives nothing from a namenode, and a paused namenode sends nothing. */
  private void outage(String host, boolean begins) {
    for (SimulatedNamenode namenode : simulation.namenodes()) {
      if (host.startsWith("client")) {
        outage(host, namenode.host(), begins);
      } else if (host.equals(namenode.host())) {
        simulation.users().forEach(user -> outage(user.host(), host, begins));
        simulation.world().stoodStill(simulation.namenodes().indexOf(namenode), begins);
      }
    }
  }

  private void outage(String user, String namenode, boolean begins) {
    if (begins) {
      outages.begin(user, namenode, simulation.now());
    } else {
      outages.end(user, namenode, simulation.now());
    }
  }

  private void resume(String host) {
    if (network.isPaused(host)) {
      network.resume(host);
      outage(host, false);
      simulation.users().stream()
          .filter(u -> u.host().equals(host))
          .forEach(SimulatedUser::resumed);
    }
  }

  private String killUser(SimulatedUser user) {
    user.kill(random.nextInt(4) == 0);
    simulation.users().remove(user);
    simulation.newUser();
    return "kill " + user.host();
  }

  private String killNamenode(SimulatedNamenode namenode, Duration span) {
    if (namenode.server() == null) {
      return "nothing";
    }
    namenode.kill(random.nextInt(4) == 0);
    simulation.world().namenodeDied(simulation.namenodes().indexOf(namenode), namenode.isDurable());
    later(span, () -> restart(namenode));
    return "kill " + namenode.host();
  }

  private String killDatanode(SimulatedDatanode datanode, Duration span) {
    if (!datanode.lives()) {
      return "nothing";
    }
    datanode.kill(random.nextInt(4) == 0);
    simulation.world().datanodeDied();
    later(span, () -> restart(datanode));
    return "kill " + datanode.host();
  }

  private void restart(SimulatedNamenode namenode) {
    try {
      if (namenode.server() == null) {
        namenode.restart();
        if (namenode.isDurable()) {
          simulation.world().stoodStill(simulation.namenodes().indexOf(namenode), false);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void restart(SimulatedDatanode datanode) {
    try {
      if (!datanode.lives()) {
        datanode.restart();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends all faults, and cancels the planned ones. */
  void heal() {
    storm++;
    List.copyOf(partitions).forEach(this::reunite);
    paused.forEach(this::resume);
    paused.clear();
    network.breakConnections(0);
    network.latency(FAST, USUAL);
    simulation.tiers().forEach(tier -> tier.latency(FAST, USUAL));
    answerAlways();
    simulation.namenodes().forEach(this::restart);
    simulation.datanodes().forEach(Nemesis::restart);
  }
}
