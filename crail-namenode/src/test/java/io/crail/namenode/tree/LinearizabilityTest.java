/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.Rename;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Runs random programs in several threads, and searches for an order of their operations that
 * explains every answer. A single thread must be able to get the same answers in that order, and an
 * operation must come after all operations that had ended when it began.
 *
 * <p>Containers are made and removed here, but not renamed. As in other file systems, a node that
 * is created while a container above it is renamed may appear under the new name.
 */
class LinearizabilityTest {
  private static final int ROUNDS = 400;

  /** Rounds go on until so many steps have met others, or the time is over. */
  private static final int MEETINGS = 200;

  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final int THREADS = 3;
  private static final int STEPS = 60;
  private static final String[] CONTAINERS = {"a", "b"};
  private static final String[] FILES = {"a/f", "a/g", "b/f"};

  private enum Kind {
    CREATE,
    REMOVE,
    REMOVE_ALL,
    RENAME,
    REPLACE,
    RENAME_OVER,
    LOOKUP
  }

  /** An operation of a thread, with its begin, end and answer. */
  private static final class Step {
    private final Kind kind;
    private final String path;
    private final String target;
    private int began;
    private int ended;
    private ErrorCode error;
    private long id;

    Step(Kind kind, String path, String target) {
      this.kind = kind;
      this.path = path;
      this.target = target;
    }

    @Override
    public String toString() {
      return String.format(
          "[%d-%d] %s %s%s: %s",
          began,
          ended,
          kind,
          path,
          target == null ? "" : " to " + target,
          error == null ? "node " + id : error);
    }
  }

  private static Step randomStep(Random random) {
    boolean container = random.nextInt(4) == 0;
    String[] names = container ? CONTAINERS : FILES;
    String path = names[random.nextInt(names.length)];
    switch (random.nextInt(8)) {
      case 0:
      case 1:
        return new Step(Kind.CREATE, path, null);
      case 2:
        return new Step(random.nextBoolean() ? Kind.REMOVE : Kind.REMOVE_ALL, path, null);
      case 3:
        return container
            ? new Step(Kind.LOOKUP, path, null)
            : new Step(Kind.RENAME, path, FILES[random.nextInt(FILES.length)]);
      case 4:
        return container
            ? new Step(Kind.LOOKUP, path, null)
            : new Step(Kind.RENAME_OVER, path, FILES[random.nextInt(FILES.length)]);
      case 5:
        return new Step(container ? Kind.CREATE : Kind.REPLACE, path, null);
      default:
        return new Step(Kind.LOOKUP, path, null);
    }
  }

  private static void run(Wire wire, String top, Step step, AtomicInteger time) {
    Utf8 path = Utf8.of(top + step.path);
    step.began = time.getAndIncrement();
    // On a busy machine threads would else follow each other a time slice apart and never meet.
    Thread.yield();
    try {
      switch (step.kind) {
        case CREATE:
          NodeType type = step.path.length() == 1 ? NodeType.DIRECTORY : NodeType.DATAFILE;
          step.id =
              wire.call(NameNodeOperations.CREATE, TestStore.creation(type, path.toString(), 0))
                  .node()
                  .id();
          break;
        case LOOKUP:
          step.id = wire.call(NameNodeOperations.LOOKUP, new Lookup.Request(path)).node().id();
          break;
        case REPLACE:
          step.id =
              wire.call(
                      NameNodeOperations.CREATE,
                      TestStore.replacement(NodeType.DATAFILE, path.toString(), 0))
                  .node()
                  .id();
          break;
        case RENAME:
        case RENAME_OVER:
          step.id =
              wire.call(
                      NameNodeOperations.RENAME,
                      new Rename.Request(
                          step.kind == Kind.RENAME_OVER, path, Utf8.of(top + step.target)))
                  .node()
                  .id();
          break;
        default:
          step.id =
              wire.call(
                      NameNodeOperations.REMOVE,
                      new Remove.Request(step.kind == Kind.REMOVE_ALL, path))
                  .node()
                  .id();
      }
    } catch (CrailException e) {
      step.error = e.code();
    }
    step.ended = time.getAndIncrement();
  }

  /** The tree after a step, or null when the step cannot have been answered so. */
  private static Map<String, Long> apply(Map<String, Long> tree, Step step) {
    Map<String, Long> next = new TreeMap<>(tree);
    boolean hasParent = step.path.length() == 1 || tree.containsKey(step.path.substring(0, 1));
    Long present = tree.get(step.path);
    ErrorCode error = null;
    switch (step.kind) {
      case CREATE:
        error =
            !hasParent
                ? ErrorCode.PARENT_NOT_FOUND
                : present != null ? ErrorCode.NODE_EXISTS : null;
        next.put(step.path, step.id);
        break;
      case REPLACE:
        error = !hasParent ? ErrorCode.PARENT_NOT_FOUND : null;
        next.put(step.path, step.id);
        break;
      case LOOKUP:
        error = present == null ? ErrorCode.NODE_NOT_FOUND : null;
        break;
      case RENAME:
      case RENAME_OVER:
        boolean fails =
            present == null
                || !tree.containsKey(step.target.substring(0, 1))
                || step.target.equals(step.path)
                || tree.containsKey(step.target) && step.kind == Kind.RENAME;
        // Which of several reasons is named may depend on when each was looked at.
        error = fails ? (step.error == null ? ErrorCode.INTERNAL : step.error) : null;
        next.remove(step.path);
        next.put(step.target, present);
        break;
      default:
        boolean hasChildren = tree.keySet().stream().anyMatch(k -> k.startsWith(step.path + "/"));
        error =
            present == null
                ? ErrorCode.NODE_NOT_FOUND
                : hasChildren && step.kind == Kind.REMOVE ? ErrorCode.NOT_EMPTY : null;
        next.keySet().removeIf(k -> k.equals(step.path) || k.startsWith(step.path + "/"));
    }
    if (error != step.error) {
      return null;
    }
    if (error != null) {
      return tree;
    }
    boolean creates = step.kind == Kind.CREATE || step.kind == Kind.REPLACE;
    return creates || present == step.id ? next : null;
  }

  /**
   * True when the steps from these positions on can follow in some order.
   *
   * @param failed states from which there is none, as far as is known
   */
  private static boolean explain(
      Map<String, Long> tree, List<List<Step>> steps, int[] positions, Set<List<Object>> failed) {
    List<Object> state = List.of(tree, positions[0], positions[1], positions[2]);
    if (failed.contains(state)) {
      return false;
    }
    int firstEnd = Integer.MAX_VALUE;
    for (int i = 0; i < THREADS; i++) {
      if (positions[i] < STEPS) {
        firstEnd = Math.min(firstEnd, steps.get(i).get(positions[i]).ended);
      }
    }
    boolean done = firstEnd == Integer.MAX_VALUE;
    for (int i = 0; i < THREADS && !done; i++) {
      Step candidate = positions[i] < STEPS ? steps.get(i).get(positions[i]) : null;
      if (candidate != null && candidate.began < firstEnd) {
        Map<String, Long> next = apply(tree, candidate);
        if (next != null) {
          positions[i]++;
          done = explain(next, steps, positions, failed);
          positions[i]--;
        }
      }
    }
    if (!done) {
      failed.add(state);
    }
    return done;
  }

  @Test
  void everyAnswerFitsIntoOneOrder() throws Exception {
    Random random = new Random(TestStore.seed());
    TestStore store = new TestStore();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    Wire[] wires = new Wire[THREADS];
    for (int i = 0; i < THREADS; i++) {
      wires[i] = Wire.connect(store.server, i);
    }
    int overlapping = 0;
    long began = System.nanoTime();
    try {
      for (int round = 0; round < ROUNDS || overlapping < MEETINGS; round++) {
        if (round >= ROUNDS && System.nanoTime() - began > MOST_NANOS) {
          break;
        }
        String top = "/" + round + "/";
        store.mkdir("/" + round);
        Map<String, Long> start = new TreeMap<>();
        start.put("a", store.mkdir(top + "a").id());
        start.put("a/f", store.file(top + "a/f").id());
        List<List<Step>> steps = new ArrayList<>();
        List<Future<?>> running = new ArrayList<>();
        AtomicInteger time = new AtomicInteger();
        AtomicInteger ready = new AtomicInteger();
        for (int i = 0; i < THREADS; i++) {
          Wire wire = wires[i];
          List<Step> own = new ArrayList<>();
          for (int j = 0; j < STEPS; j++) {
            own.add(randomStep(random));
          }
          steps.add(own);
          running.add(
              threads.submit(
                  () -> {
                    ready.incrementAndGet();
                    // Met by spinning: who is woken comes too late to meet anybody.
                    while (ready.get() < THREADS) {
                      Thread.yield();
                    }
                    own.forEach(step -> run(wire, top, step, time));
                    return null;
                  }));
        }
        for (Future<?> one : running) {
          one.get(60, TimeUnit.SECONDS);
        }
        for (List<Step> own : steps) {
          overlapping += (int) own.stream().filter(step -> step.ended - step.began > 1).count();
        }
        assertTrue(
            explain(start, steps, new int[THREADS], new HashSet<>()),
            () -> "no order explains " + start + " " + steps);
        store.remove("/" + round, true);
        store.namenode.tick();
      }
    } finally {
      threads.shutdownNow();
    }
    System.out.println(overlapping + " steps met others");
    store.namenode.verify();
    assumeTrue(overlapping >= MEETINGS, "this machine let only " + overlapping + " steps meet");
  }
}
