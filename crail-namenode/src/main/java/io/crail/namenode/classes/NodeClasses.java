/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import io.crail.compound.StepKind;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The {@link NodeClass}es by name, with a limit for what a call may take. Thread-safe. */
public final class NodeClasses {
  private static final Logger LOG = LoggerFactory.getLogger(NodeClasses.class);
  private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** So many in a row, since a pause of the process is not the fault of a class. */
  private static final int MOST_OVERRUNS = 3;

  private final TreeMap<String, Entry> known = new TreeMap<>();
  private final Clock clock;

  private static final class Entry {
    private final NodeClass nodeClass;
    private final boolean isOurs;
    // In a row.
    private final AtomicInteger overruns = new AtomicInteger();
    private volatile String off;

    Entry(NodeClass nodeClass, boolean isOurs) {
      this.nodeClass = nodeClass;
      this.isOurs = isOurs;
    }
  }

  /** Those of the project, and others. */
  public NodeClasses(Clock clock, Iterable<NodeClass> others) {
    this.clock = clock;
    List.of(new LockClass(), new CounterClass(), new TagClass(), new QueueClass())
        .forEach(each -> add(each, true));
    others.forEach(each -> add(each, false));
  }

  private void add(NodeClass nodeClass, boolean isOurs) {
    String name = nodeClass.name();
    if (name.isEmpty() || name.indexOf('.') >= 0) {
      throw new IllegalArgumentException(nodeClass.getClass() + " has the name '" + name + "'");
    }
    if (known.putIfAbsent(name, new Entry(nodeClass, isOurs)) != null) {
      throw new IllegalArgumentException("two node classes have the name '" + name + "'");
    }
  }

  /** Those of the project and of the class path. */
  public static NodeClasses load(Clock clock) {
    return new NodeClasses(
        clock, ServiceLoader.load(NodeClass.class, NodeClasses.class.getClassLoader()));
  }

  /**
   * Calls a method.
   *
   * @param method name of the class, a dot, and name of the method
   */
  public NodeClass.Decision call(String method, NodeView node, SmallValue input)
      throws CrailException {
    int dot = method.indexOf('.');
    Entry entry = dot < 0 ? null : known.get(method.substring(0, dot));
    if (entry == null) {
      throw ErrorCode.UNSUPPORTED.exception("no class for " + method);
    }
    String off = entry.off;
    if (off != null) {
      throw ErrorCode.UNSUPPORTED.exception(method + " is switched off: " + off);
    }
    long from = clock.nanoTime();
    try {
      NodeClass.Decision decision =
          entry.nodeClass.call(
              method.substring(dot + 1), node, input.bytes().clone(), clock.currentTimeMillis());
      check(decision, method);
      return decision;
    } catch (RuntimeException | AssertionError | LinkageError | StackOverflowError e) {
      switchOff(entry, method, "it failed with " + e);
      throw ErrorCode.UNSUPPORTED.exception(method + " failed");
    } finally {
      long taken = clock.nanoTime() - from;
      if (taken <= MOST_NANOS) {
        entry.overruns.lazySet(0);
      } else if (entry.overruns.incrementAndGet() == MOST_OVERRUNS) {
        switchOff(entry, method, "it took " + TimeUnit.NANOSECONDS.toMicros(taken) + " us");
      }
    }
  }

  /** What a method decides has the limits of a list, and is performed or not. */
  private static void check(NodeClass.Decision decision, String method) throws CrailException {
    List<CompoundStep> steps = decision.steps().steps();
    if (decision.output().length > SmallValue.MAX_LENGTH
        || steps.size() > Operate.MAX_STEPS
        || CompoundStep.CODEC.lengthOfAll(steps) > Operate.MAX_BYTES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(method + " returns more than a list can hold");
    }
    for (CompoundStep step : steps) {
      if (step.goesOn() || step.kind() == StepKind.CALL.number()) {
        throw ErrorCode.UNSUPPORTED.exception(
            method + " calls a class, or goes on after a failure");
      }
    }
  }

  private static void switchOff(Entry entry, String method, String why) {
    if (entry.isOurs) {
      // Others need it, and a machine without time to spare is not its fault.
      LOG.warn("{}: {}", method, why);
    } else {
      LOG.error("{} is called no more, with all of its class: {}", method, why);
      entry.off = why;
    }
  }
}
