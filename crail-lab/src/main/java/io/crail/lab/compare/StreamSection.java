/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Iperf;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Streams: with operations of 1 MiB, compared with iperf3 or a memory copy; and with smaller
 * operations, through buffered and direct streams.
 */
final class StreamSection extends Section {
  private static final int PIECE = 1 << 20;
  private static final int[] SIZES = {1 << 10, 8 << 10, 64 << 10, PIECE};
  private static final int[] SMALLER = {1 << 10, 8 << 10, 64 << 10};
  private static final String FILE = " -f /stream.dat";
  private static final String IPERF = "iperf3, one stream";
  private static final String[] TYPES = {"write", "readSequential"};
  private static final boolean[] BUFFERED = {true, false};
  private static final double OF_IPERF = 0.9;

  /** A stream may take 1.2 times as long as a copy. */
  private static final double OF_COPY = 0.83;

  private static final int IN_FLIGHT = 8;

  /** Bytes of an experiment with 1 MiB. */
  private static final int WHOLE = 512 << 20;

  /**
   * Experiments before the measured ones. HotSpot compiles during them for some seconds, and each
   * block is used for the first time.
   */
  private static final int DROPPED = 11;

  private static final int EXPERIMENTS = 7;

  /** More experiments, since each takes less than half the time. */
  private static final int DROPPED_MAPPED = 16;

  private static final int EXPERIMENTS_MAPPED = 9;

  /** Bytes to copy, more than any cache has. */
  private static final int COPIED = 512 << 20;

  /** Number of pieces of at most 8 KiB, which take little time each. */
  private static final int MANY = 32 << 10;

  /** Number of pieces of 64 KiB until the code is compiled. */
  private static final int SOME = 8 << 10;

  /** Over TCP each piece may wait for an answer, so that more pieces would take too long. */
  private static final int WAITING = 4 << 10;

  private final boolean mapped;
  private final String how;

  /** Creates the section; {@code mapped} is whether clients map the datanode's memory. */
  StreamSection(CompareSession with, boolean mapped) {
    super(with);
    this.mapped = mapped;
    this.how = mapped ? "mapped" : "TCP";
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    for (String type : TYPES) {
      for (boolean buffered : BUFFERED) {
        String load = "-t " + type + " -m " + buffered + whole();
        String figure = name(type, buffered, PIECE);
        inTurn(
            () -> bytes(figure, load, mapped),
            () -> limit(type, figure, 1),
            () -> bare(type, buffered, figure));
      }
      String load = "-t " + type + "Async -b " + IN_FLIGHT + whole();
      inTurn(() -> bytes(async(type), load, mapped), () -> limit(type, async(type), IN_FLIGHT));
    }
    if (isFirstRun()) {
      sweep();
    }
  }

  private void sweep() throws IOException, InterruptedException {
    for (String type : TYPES) {
      for (boolean buffered : BUFFERED) {
        // All sizes of a line are measured in one process, with the same number of pieces.
        if (mapped || buffered) {
          sweep(type, buffered, MANY, 1 << 10, 8 << 10);
          sweep(type, buffered, SOME, 64 << 10);
        } else {
          sweep(type, buffered, WAITING, SMALLER);
        }
      }
    }
    if (mapped) {
      MemoryCopies.measure(with, samples, COPIED, SIZES);
    }
  }

  private void sweep(String type, boolean buffered, int count, int... sizes)
      throws IOException, InterruptedException {
    String load =
        "-t " + type + " -m " + buffered + " -k " + count + " -w " + count / 2 + " -e 3 -o true";
    String shown = LabCluster.shown("iobench", load + FILE + sizesOf(sizes), mapped);
    for (Map.Entry<Integer, String> each : sweep(load + FILE, sizes, mapped).entrySet()) {
      bytes(name(type, buffered, each.getKey()), shown, each.getValue());
    }
  }

  /** Several experiments in one process, after others. So the median is of compiled code. */
  private String whole() {
    String pieces = " -s " + PIECE + " -k " + WHOLE / PIECE + " --touch false";
    String drop = " --drop " + (mapped ? DROPPED_MAPPED : DROPPED);
    String count = " -e " + (mapped ? EXPERIMENTS_MAPPED : EXPERIMENTS);
    return pieces + drop + count + " -o true" + FILE;
  }

  /** The lower bound of a figure with so many buffers, taken directly after it. */
  private void limit(String type, String figure, int buffers)
      throws IOException, InterruptedException {
    if (mapped) {
      boolean into = type.equals("write");
      MemoryCopies.measureBeside(with, samples, beside(figure), into, COPIED, PIECE, buffers);
    } else if (has(CompareSession.Peer.IPERF)) {
      double megabytes = Iperf.megabytes(with.programs());
      samples.add(IPERF + beside(figure), "MB/s", Iperf.shown(), megabytes);
    }
  }

  /** The bare network with bytes in memory that no cache holds, as at a datanode. */
  private void bare(String type, boolean buffered, String figure)
      throws IOException, InterruptedException {
    if (!mapped && !buffered) {
      BareStreams.measureBeside(
          with, samples, beside(figure), COPIED, PIECE, BareStreams.Way.CACHED, way(type));
    }
  }

  private static BareStreams.Way way(String type) {
    return type.equals("write") ? BareStreams.Way.INTO : BareStreams.Way.FROM;
  }

  private static String beside(String figure) {
    return ", beside " + figure;
  }

  private String name(String type, boolean buffered, int size) {
    return name(type, buffered, Samples.bytes(size));
  }

  private String name(String type, boolean buffered, String size) {
    return type + " " + size + (buffered ? ", " : " direct, ") + how;
  }

  private String async(String type) {
    return type + "Async 1 MiB, " + IN_FLIGHT + " in flight, " + how;
  }

  @Override
  protected void compare() {
    List<Plot.Series> series = new ArrayList<>();
    for (String type : TYPES) {
      for (boolean buffered : BUFFERED) {
        compare(type, name(type, buffered, PIECE));
        series.add(
            Plot.Series.overSizes(
                type + (buffered ? ", buffered" : ", direct"), SIZES, name(type, buffered, "%s")));
      }
      compare(type, async(type));
      if (!mapped) {
        String beside = beside(name(type, false, PIECE));
        goals.add(
            BareStreams.name(way(type)) + beside,
            BareStreams.name(BareStreams.Way.CACHED) + beside,
            "MB/s",
            0);
      }
    }
    if (mapped) {
      for (boolean into : new boolean[] {true, false}) {
        series.add(
            Plot.Series.overSizes(
                into ? "memory copy, into" : "memory copy, out of",
                SIZES,
                MemoryCopies.name(into, PIECE).replace(Samples.bytes(PIECE), "%s")));
      }
    }
    plot(
        new Plot(
            "streams-" + (mapped ? "mapped" : "tcp"),
            mapped ? "Streams on the datanode's host" : "Streams over TCP",
            "throughput [MB/s]",
            "MB/s",
            Plot.Axis.SIZE,
            series));
  }

  private void compare(String type, String figure) {
    if (!mapped) {
      String beside = beside(name(type, false, PIECE));
      goals.add(figure, BareStreams.name(way(type)) + beside, "MB/s", 0);
    }
    if (mapped) {
      goals.add(
          figure, MemoryCopies.name(type.equals("write"), PIECE) + beside(figure), "MB/s", OF_COPY);
    } else if (has(CompareSession.Peer.IPERF)) {
      goals.add(figure, IPERF + beside(figure), "MB/s", OF_IPERF);
    }
  }
}
