/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.cluster;

import java.util.HashMap;
import java.util.Map;

/**
 * The times at which clients could not reach namenodes, for any reason. A lease cannot survive an
 * outage that is longer than the lease, and does not come back afterwards.
 */
final class Outages {
  private record Pair(String user, String namenode) {}

  private static final class State {
    private int causes;
    private long since;

    // The end of the leases from before the last outage that was longer than a lease.
    private long leasesEnded = Long.MIN_VALUE;
    private long lastLongSince;
  }

  private final long leaseNanos;
  private final Map<Pair, State> states = new HashMap<>();

  Outages(long leaseNanos) {
    this.leaseNanos = leaseNanos;
  }

  private State state(String user, String namenode) {
    return states.computeIfAbsent(new Pair(user, namenode), any -> new State());
  }

  void begin(String user, String namenode, long now) {
    State state = state(user, namenode);
    if (state.causes++ == 0) {
      state.since = now;
    }
  }

  void end(String user, String namenode, long now) {
    State state = state(user, namenode);
    // A client that joined during an outage has not seen its beginning.
    if (state.causes > 0 && --state.causes == 0) {
      note(state, now);
    }
  }

  private void note(State state, long now) {
    if (now - state.since >= leaseNanos) {
      state.lastLongSince = state.since;
      state.leasesEnded = state.since + leaseNanos;
    }
  }

  /** True when a lease that existed at {@code from} must have ended before {@code now}. */
  boolean hasEnded(String user, String namenode, long from, long now) {
    State state = state(user, namenode);
    if (state.causes > 0) {
      note(state, now);
    }
    return state.leasesEnded < now
        && state.leasesEnded != Long.MIN_VALUE
        && from <= state.lastLongSince;
  }
}
