/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.error.CrailException;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.Place;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What it costs a client to read the answer to a lookup. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LookupAnswerBenchmark {
  private static final int BLOCK = 1 << 20;

  /** Extents in the answer. */
  @Param({"0", "1", "4"})
  public int extents;

  private ByteBuffer answer;

  /** Writes the answer. */
  @Setup
  public void encode() {
    List<Extent> list = new ArrayList<>();
    for (int i = 0; i < extents; i++) {
      list.add(new Extent((long) i * BLOCK, BLOCK, new Place(1, 0, (long) i * BLOCK, i)));
    }
    NodeInfo node =
        new NodeInfo(1, (long) extents * BLOCK, 2, 3, 0, 0, NodeType.DATAFILE, 1, 0644, 1, 1);
    Lookup.Response response = new Lookup.Response(node, list, SmallValue.NONE);
    int length = Lookup.Response.CODEC.length(response);
    answer = ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
    Lookup.Response.CODEC.encode(response, answer, 0);
  }

  /** Checks the answer and makes its objects. */
  @Benchmark
  public Lookup.Response decode() throws CrailException {
    return Lookup.Response.CODEC.decode(answer, 0, answer.capacity());
  }
}
