/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.Utf8;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Appends at a namenode without a network: what a guard adds to its processor time. Batches with
 * and without it take turns, each some dozens of microseconds long, so whatever slows one slows the
 * other. {@code bin/jmh GuardBenchmark -prof io.crail.lab.jmh.GuardRatio} prints the ratio.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(5)
public class GuardBenchmark {
  private static final int APPENDS = 32;

  /** As in a comparison, one of so many lists replaces all bytes. */
  private static final int FILLING = 4;

  private static final int EPOCH = 1;
  private static final int PERMISSIONS = 0644;
  private static final Utf8 TABLE = Utf8.of("/table");
  private static final Utf8 KEY = Utf8.of("/table/key");

  /** Bytes of an append. */
  @Param({"64", "4096"})
  public int size;

  /** Guards of a guarded list. */
  @Param({"1"})
  public int guards;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private DirectNamenode namenode;
  private DirectNamenode.Requests plain;
  private DirectNamenode.Requests guarded;
  private boolean guardedFirst;

  /** The processor time of each kind in an iteration, which other processes do not take. */
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Times {
    /** Nanoseconds of appends without a guard. */
    public long plainNanos;

    /** Nanoseconds of as many appends with one. */
    public long guardedNanos;
  }

  /** Opens a namenode with a key. */
  @Setup
  public void open() throws Exception {
    namenode = new DirectNamenode();
    namenode.call(
        NameNodeOperations.CREATE,
        new Create.Request(
            NodeType.TABLE,
            true,
            false,
            false,
            PERMISSIONS,
            Create.PARENT_CLASS,
            0,
            TABLE,
            Utf8.EMPTY));
    CompoundOperation make = CompoundOperation.builder().create().raiseEpoch(EPOCH).build();
    namenode.serve(new DirectNamenode.Requests(NameNodeOperations.OPERATE, List.of(request(make))));
    plain = appends(false);
    guarded = appends(true);
    requireAllDone();
  }

  /** All lists of both batches do something. It takes too long to look at each in between. */
  private void requireAllDone() throws Exception {
    for (DirectNamenode.Requests each : List.of(plain, guarded)) {
      ByteBuffer answers = namenode.serve(each);
      int at = 0;
      for (int i = 0; i < APPENDS; i++) {
        requireDone(answers, at);
        at += Frame.length(answers, at);
      }
    }
  }

  private static void requireDone(ByteBuffer answers, int at) {
    if ((answers.get(at + Frame.HEADER_LENGTH) & 0xff) != Operate.NONE_FAILED) {
      throw new IllegalStateException("a list has failed");
    }
  }

  private static Operate.Request request(CompoundOperation operation) {
    return new Operate.Request(PERMISSIONS, KEY, operation.steps());
  }

  private DirectNamenode.Requests appends(boolean isGuarded) {
    byte[] bytes = new byte[size];
    List<Operate.Request> requests = new ArrayList<>();
    for (int i = 0; i < APPENDS; i++) {
      CompoundOperation.Builder steps = CompoundOperation.builder();
      for (int guard = 0; isGuarded && guard < guards; guard++) {
        steps.requireEpoch(Comparison.AT_MOST, EPOCH);
      }
      requests.add(
          request(i % FILLING == 0 ? steps.writeFull(bytes).build() : steps.append(bytes).build()));
    }
    return new DirectNamenode.Requests(NameNodeOperations.OPERATE, requests);
  }

  /** Closes the namenode. */
  @TearDown
  public void close() throws Exception {
    try {
      requireAllDone();
    } finally {
      namenode.close();
    }
  }

  /** A batch without guards and one with them. */
  @Benchmark
  @OperationsPerInvocation(2 * APPENDS)
  public void appends(Times times) throws Exception {
    guardedFirst = !guardedFirst;
    for (int i = 0; i < 2; i++) {
      boolean isGuarded = guardedFirst == (i == 0);
      long begin = THREADS.getCurrentThreadCpuTime();
      ByteBuffer answers = namenode.serve(isGuarded ? guarded : plain);
      long nanos = THREADS.getCurrentThreadCpuTime() - begin;
      requireDone(answers, 0);
      if (isGuarded) {
        times.guardedNanos += nanos;
      } else {
        times.plainNanos += nanos;
      }
    }
  }
}
