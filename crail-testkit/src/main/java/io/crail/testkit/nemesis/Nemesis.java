/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Carries out a plan in the calling thread. */
public final class Nemesis {
  private static final long POLL_MILLIS = 5;

  private final Victims victims;
  private final Consumer<String> log;
  private long longestMillis;

  /** The operations of a test on the processes of its cluster. */
  public interface Victims {
    /** Begins a fault. */
    void begin(Fault fault, Role role, int index) throws Exception;

    /** Ends a fault: a killed process is started, a stopped one continues. */
    void end(Fault fault, Role role, int index) throws Exception;

    /**
     * Called when no fault lasts.
     *
     * @param longestMillis the longest fault since the last call
     */
    void healed(long longestMillis) throws Exception;
  }

  /** The begin or the end of a fault. */
  private record Event(long atMillis, Step step, boolean begins) {}

  /**
   * Creates a nemesis.
   *
   * @param log receives a line for each action
   */
  public Nemesis(Victims victims, Consumer<String> log) {
    this.victims = victims;
    this.log = log;
  }

  /**
   * Carries out a plan. Afterwards all faults have ended. What takes longer than planned delays the
   * rest, and shortens no fault.
   *
   * @param goesOn returns false when the test has ended early
   */
  public void run(List<Step> plan, BooleanSupplier goesOn) throws Exception {
    List<Event> events = new ArrayList<>();
    for (Step step : plan) {
      events.add(new Event(step.atMillis(), step, true));
      events.add(new Event(step.endMillis(), step, false));
    }
    events.sort(Comparator.comparingLong(Event::atMillis));
    List<Step> lasting = new ArrayList<>();
    long begin = System.nanoTime();
    try {
      for (Event event : events) {
        while (goesOn.getAsBoolean() && millisSince(begin) < event.atMillis) {
          Thread.sleep(POLL_MILLIS);
        }
        if (!goesOn.getAsBoolean()) {
          return;
        }
        begin = System.nanoTime() - event.atMillis * 1_000_000;
        if (event.begins) {
          log.accept(event.step.toString());
          longestMillis = Math.max(longestMillis, event.step.millis());
          lasting.add(event.step);
          victims.begin(event.step.fault(), event.step.role(), event.step.index());
        } else {
          end(event.step, lasting);
        }
      }
    } finally {
      for (Step step : List.copyOf(lasting)) {
        end(step, lasting);
      }
    }
  }

  private void end(Step step, List<Step> lasting) throws Exception {
    lasting.remove(step);
    victims.end(step.fault(), step.role(), step.index());
    log.accept("ended: " + step);
    if (lasting.isEmpty()) {
      victims.healed(longestMillis);
      longestMillis = 0;
    }
  }

  private static long millisSince(long beginNanos) {
    return (System.nanoTime() - beginNanos) / 1_000_000;
  }
}
