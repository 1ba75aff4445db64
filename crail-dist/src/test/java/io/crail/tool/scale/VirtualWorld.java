/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.tool.drain.DrainWork;
import io.crail.tool.scale.ScaleMember.Part;
import io.crail.tool.scale.ScaleMember.Standing;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * A cluster in virtual time, whose data lie evenly on the datanodes that serve. It refuses what
 * would lose data. Used by one thread.
 */
final class VirtualWorld implements ScaleWorld, ScaleController.Lease {
  static final long GIB = 1L << 30;

  /** A datanode, from its order on. */
  static final class Node {
    final UUID uuid;
    final String address;
    final long registersMillis;
    boolean drains;
    boolean isSilent;
    double left;

    /** While it drains: the namenodes that give it data, and those that do not know it. */
    final Set<Integer> usedAt = new HashSet<>();

    final Set<Integer> unknownAt = new HashSet<>();

    Node(String address, int number, long registersMillis) {
      this.uuid = new UUID(7, number);
      this.address = address;
      this.registersMillis = registersMillis;
    }
  }

  final List<Node> nodes = new ArrayList<>();
  final List<String> actions = new ArrayList<>();
  final List<String> lines = new ArrayList<>();
  final ScaleEvents events = new ScaleEvents(lines::add, false);

  long now;
  int namenodes = 1;
  double load;
  long startMillis = 8_000;
  double drainBytesPerMilli = 2 * GIB / 1e3;
  boolean registers = true;
  boolean drainsBegin = true;
  boolean isWhole = true;
  boolean isLeaseLost;

  /** How long a lease lives, and how long a look, an announcement and the end of a drain take. */
  long leaseMillis = Long.MAX_VALUE;

  long lookMillis;
  long announcingMillis;
  long drainEndMillis;
  private long heldMillis;
  Optional<String> startFailure = Optional.empty();
  Optional<String> stopFailure = Optional.empty();
  long hookMillis;
  String chosen = "";
  Optional<String> chooseFailure = Optional.empty();
  long announced;
  String record = "";
  int chooses;
  private int made;

  /** Adds a datanode that serves. */
  Node serving() {
    Node node = make(now);
    nodes.add(node);
    return node;
  }

  private Node make(long registersMillis) {
    return new Node("host:" + made, made++, registersMillis);
  }

  private boolean isThere(Node node) {
    return node.registersMillis <= now;
  }

  private List<Node> servingNodes() {
    return nodes.stream().filter(each -> isThere(each) && !each.drains).toList();
  }

  int servingCount() {
    return servingNodes().size();
  }

  /** Bytes that find no room now. */
  double waiting() {
    return Math.max(0, load - servingNodes().size() * (double) GIB);
  }

  @Override
  public void hold(String newRecord) throws LeaseLostException {
    isLeaseLost |= now - heldMillis > leaseMillis;
    if (isLeaseLost) {
      throw new LeaseLostException("another one has it");
    }
    heldMillis = now;
    record = newRecord;
  }

  @Override
  public long millis() {
    return now;
  }

  @Override
  public void sleep(long millis) {
    pass(millis);
  }

  /** Lets time pass, in which data move. */
  void pass(long millis) {
    now += millis;
    for (Node each : nodes) {
      double moved = each.isSilent ? 0 : millis * drainBytesPerMilli;
      each.left = each.drains ? Math.max(0, each.left - moved) : 0;
    }
  }

  private long used(Node node) {
    double others = nodes.stream().filter(each -> each.drains).mapToDouble(each -> each.left).sum();
    double each = Math.max(0, load - others) / Math.max(1, servingNodes().size());
    return (long) (node.drains ? node.left : Math.min(GIB, each));
  }

  @Override
  public View look() {
    pass(lookMillis);
    List<ScaleMember> members = new ArrayList<>();
    for (Node each : nodes) {
      if (isThere(each)) {
        Standing standing =
            each.isSilent ? Standing.SILENT : each.drains ? Standing.DRAINS : Standing.SERVES;
        if (each.unknownAt.size() < namenodes) {
          members.add(new ScaleMember(each.uuid, each.address, standing, parts(each), 0));
        }
      }
    }
    return new View(members, isWhole);
  }

  private List<Part> parts(Node node) {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < namenodes; i++) {
      boolean drains = node.drains && !node.usedAt.contains(i);
      Part part = new Part(GIB / namenodes, used(node) / namenodes, drains, node.isSilent);
      parts.add(node.unknownAt.contains(i) ? Part.NONE : part);
    }
    return parts;
  }

  @Override
  public void announce(long millis) {
    pass(announcingMillis);
    announced = millis;
  }

  private Hook hook(Optional<String> failure, String line) {
    long end = now + hookMillis;
    return new Hook() {
      private boolean aborted;

      @Override
      public boolean isEnded() {
        return aborted || now >= end;
      }

      @Override
      public Optional<String> failure() {
        return aborted ? Optional.of("was ended") : isEnded() ? failure : Optional.empty();
      }

      @Override
      public String lastLine() {
        return line;
      }

      @Override
      public void abort() {
        aborted = true;
        actions.add("abort");
      }
    };
  }

  private void act(String action) {
    assertTrue(!isLeaseLost && now - heldMillis <= leaseMillis, action);
    actions.add(action);
  }

  @Override
  public Hook start(List<String> names, int starting) {
    act("start " + String.join(" ", names) + " beside " + starting);
    if (startFailure.isEmpty()) {
      long registersMillis = registers ? now + startMillis : Long.MAX_VALUE;
      names.forEach(name -> nodes.add(make(registersMillis)));
    }
    return hook(startFailure, "");
  }

  @Override
  public Hook stop(UUID uuid, String address) {
    act("stop " + address);
    if (stopFailure.isEmpty()) {
      find(uuid)
          .ifPresent(
              node -> {
                assertTrue(node.drains && node.usedAt.isEmpty(), address);
                assertEquals(0, node.left, address);
                nodes.remove(node);
              });
    }
    return hook(stopFailure, "");
  }

  @Override
  public Hook choose(List<String> candidates) {
    chooses++;
    return hook(chooseFailure, chosen.isEmpty() ? candidates.get(0) : chosen);
  }

  Optional<Node> find(UUID uuid) {
    return nodes.stream().filter(each -> each.uuid.equals(uuid)).findFirst();
  }

  @Override
  public DrainWork drain(UUID uuid, String address) {
    act("drain " + address);
    Node node = find(uuid).orElseThrow();
    if (!node.drains) {
      node.left = used(node);
      node.drains = true;
    }
    return new DrainWork() {
      @Override
      public Outcome outcome() {
        if (!nodes.contains(node) || node.drains && node.left == 0) {
          return Outcome.EMPTY;
        }
        return node.drains ? Outcome.GOES_ON : Outcome.CANCELLED;
      }

      @Override
      public String reason() {
        return outcome() == Outcome.GOES_ON ? "no space" : "";
      }

      @Override
      public long leftBytes() {
        return drainsBegin ? (long) node.left : Long.MAX_VALUE;
      }

      @Override
      public void stop() {
        pass(drainEndMillis);
        actions.add("stop draining " + address);
      }
    };
  }

  @Override
  public boolean undo(UUID uuid, String address) throws CrailException {
    act("undo " + address);
    Node node = find(uuid).filter(each -> each.unknownAt.size() < namenodes).orElse(null);
    if (node == null) {
      return false;
    } else if (node.isSilent) {
      throw ErrorCode.UNAVAILABLE.exception(address + " is silent");
    }
    if (!node.unknownAt.isEmpty()) {
      IntStream.range(0, namenodes)
          .filter(each -> !node.unknownAt.contains(each))
          .forEach(node.usedAt::add);
      throw ErrorCode.UNAVAILABLE.exception("not all namenodes use it again");
    }
    node.drains = false;
    node.usedAt.clear();
    return true;
  }
}
