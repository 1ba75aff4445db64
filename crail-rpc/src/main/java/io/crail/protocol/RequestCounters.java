/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What a client has counted of its requests to namenodes, by operation. Each loop counts for
 * itself, without an atomic instruction. One request of a loop at a time has its time taken, and at
 * most every sixteenth, since each reading of the clock costs as much as all the counting.
 * Thread-safe.
 */
public final class RequestCounters {
  private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int TIMED_ONE_OF = 16;
  private static final int OPCODES = 256;

  private final Map<Integer, OperationCounters> counters = new TreeMap<>();
  private final CopyOnWriteArrayList<OfLoop> loops = new CopyOnWriteArrayList<>();
  private volatile long[] counted = new long[OPCODES];

  /** Creates counters of all operations of the table. */
  public RequestCounters() {
    NameNodeOperations.all().keySet().forEach(key -> counters.put(key, new OperationCounters()));
  }

  /**
   * Counts the requests of one more loop, from now on.
   *
   * @param clock that of the loop
   */
  public RpcPeer.Listener onLoop(Clock clock) {
    OfLoop made = new OfLoop(clock);
    loops.add(made);
    return made;
  }

  /** Requests that have ended, with success or not. */
  public long count(Operation<?, ?> operation) {
    return sum(operation.number()) - counted[operation.number()];
  }

  /** The errors of an operation, and the times of a sample of its requests. */
  public OperationCounters counters(Operation<?, ?> operation) {
    return counters.get(operation.number());
  }

  /** Begins anew. */
  public void reset() {
    long[] now = new long[OPCODES];
    counters.keySet().forEach(opcode -> now[opcode] = sum(opcode));
    counted = now;
    counters.values().forEach(OperationCounters::reset);
  }

  private long sum(int opcode) {
    long sum = 0;
    for (OfLoop each : loops) {
      sum += (long) COUNT.getOpaque(each.counts, opcode);
    }
    return sum;
  }

  /** What one loop counts. In the loop, except for reading. */
  private final class OfLoop implements RpcPeer.Listener {
    private final Clock clock;
    private final long[] counts = new long[OPCODES];
    private int untilTimed = 1;
    private int random;
    private RpcCall timed;
    private long begunNanos;

    OfLoop(Clock clock) {
      this.clock = clock;
    }

    @Override
    public void begun(RpcCall call) {
      if (--untilTimed <= 0 && timed == null) {
        untilTimed = nextDistance();
        timed = call;
        begunNanos = clock.nanoTime();
      }
    }

    /** At random, or a program that repeats the same requests would have only one of them timed. */
    private int nextDistance() {
      random = random * 1_103_515_245 + 12_345;
      return 1 + (random >>> 16) % (2 * TIMED_ONE_OF - 1);
    }

    @Override
    public void ended(RpcCall call, int opcode, CrailException failure) {
      COUNT.setOpaque(counts, opcode, counts[opcode] + 1);
      if (call == timed) {
        timed = null;
        counters.get(opcode).served(1, clock.nanoTime() - begunNanos);
      }
      if (failure != null) {
        counters.get(opcode).failed(failure.code());
      }
    }
  }
}
