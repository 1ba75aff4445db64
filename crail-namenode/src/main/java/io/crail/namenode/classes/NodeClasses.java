/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.classes;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import io.crail.protocol.codec.SmallValue;
import java.util.ArrayList;
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

  /** A pause of the process is not the fault of a class. */
  private static final int MOST_OVERRUNS = 3;

  private final TreeMap<String, Entry> known = new TreeMap<>();
  private final Clock clock;

  private static final class Entry {
    private final NodeClass nodeClass;
    private final AtomicInteger overruns = new AtomicInteger();
    private volatile String off;

    Entry(NodeClass nodeClass) {
      this.nodeClass = nodeClass;
    }
  }

  /** Those of the project, and others. */
  public NodeClasses(Clock clock, Iterable<NodeClass> others) {
    this.clock = clock;
    List<NodeClass> all =
        new ArrayList<>(
            List.of(new LockClass(), new CounterClass(), new TagClass(), new QueueClass()));
    others.forEach(all::add);
    for (NodeClass each : all) {
      String name = each.name();
      if (name.isEmpty() || name.indexOf('.') >= 0) {
        throw new IllegalArgumentException(each.getClass() + " has the name '" + name + "'");
      }
      if (known.putIfAbsent(name, new Entry(each)) != null) {
        throw new IllegalArgumentException("two node classes have the name '" + name + "'");
      }
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
      if (decision.output().length > SmallValue.MAX_LENGTH) {
        throw ErrorCode.LIMIT_EXCEEDED.exception(method + " returns more than a result can hold");
      }
      return decision;
    } catch (RuntimeException | StackOverflowError e) {
      switchOff(entry, method, "it failed with " + e);
      throw ErrorCode.UNSUPPORTED.exception(method + " failed");
    } finally {
      long taken = clock.nanoTime() - from;
      if (taken > MOST_NANOS && entry.overruns.incrementAndGet() == MOST_OVERRUNS) {
        switchOff(entry, method, "it took " + TimeUnit.NANOSECONDS.toMicros(taken) + " us");
      }
    }
  }

  private static void switchOff(Entry entry, String method, String why) {
    LOG.error("{} is called no more, with all of its class: {}", method, why);
    entry.off = why;
  }
}
