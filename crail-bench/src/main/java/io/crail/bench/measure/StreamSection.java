/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Streams: of 1 MiB beside iperf3 or a memory copy, and with smaller buffers of the application,
 * through the stream's own buffer and without.
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

  /** A copy that takes at most 1.2 times as long. */
  private static final double OF_COPY = 0.83;

  /** Bytes of an experiment with 1 MiB. */
  private static final int WHOLE = 512 << 20;

  /** It takes some GiB until HotSpot has compiled all and each block has been touched once. */
  private static final int EXPERIMENTS = 9;

  /** Bytes that are copied, more than any cache has. */
  private static final int COPIED = 512 << 20;

  /** Bytes of an experiment with less. */
  private static final int SWEPT = 128 << 20;

  /** Over TCP each of these waits for an answer, so that more would take longer than they tell. */
  private static final int MAX_WAITING = 5_000;

  private final boolean mapped;
  private final String how;

  /** Creates the section; {@code mapped} is whether clients map the datanode's memory. */
  StreamSection(Comparison with, boolean mapped) {
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
        inTurn(() -> bytes(figure, load, mapped), () -> limit(type, figure));
      }
      String load = "-t " + type + "Async -b 8" + whole();
      inTurn(() -> bytes(async(type), load, mapped), () -> limit(type, async(type)));
    }
    if (isFirstRun()) {
      sweep();
    }
  }

  private void sweep() throws IOException, InterruptedException {
    for (String type : TYPES) {
      for (boolean buffered : BUFFERED) {
        for (int size : SMALLER) {
          bytes(name(type, buffered, size), swept(type, buffered, size), mapped);
        }
      }
    }
    if (mapped) {
      MemoryCopies.measure(with, samples, COPIED, SIZES);
    }
  }

  /** Several experiments in one process, each with a warm-up: the median is of compiled code. */
  private String whole() {
    int count = WHOLE / PIECE;
    String pieces = " -s " + PIECE + " -k " + count + " -w " + count / 2;
    return pieces + " -e " + EXPERIMENTS + " -o true" + FILE;
  }

  /** As many bytes whatever the size, unless each piece is a round trip. */
  private String swept(String type, boolean buffered, int size) {
    int count = SWEPT / size;
    int used = mapped || buffered ? count : Math.min(count, MAX_WAITING);
    return "-t "
        + type
        + " -m "
        + buffered
        + " -s "
        + size
        + " -k "
        + used
        + " -w "
        + used / 2
        + " -e 3 -o true"
        + FILE;
  }

  /** What a figure is compared with, right beside it. */
  private void limit(String type, String figure) throws IOException, InterruptedException {
    if (mapped) {
      boolean into = type.equals("write");
      MemoryCopies.measureBeside(with, samples, beside(figure), into, COPIED, PIECE);
    } else if (has(Comparison.Peer.IPERF)) {
      double megabytes = Iperf.megabytes(with.programs());
      samples.add(IPERF + beside(figure), "MB/s", Iperf.shown(), megabytes);
    }
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
    return type + "Async 1 MiB, 8 in flight, " + how;
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
            true,
            series));
  }

  private void compare(String type, String figure) {
    if (mapped) {
      goals.add(
          figure, MemoryCopies.name(type.equals("write"), PIECE) + beside(figure), "MB/s", OF_COPY);
    } else if (has(Comparison.Peer.IPERF)) {
      goals.add(figure, IPERF + beside(figure), "MB/s", OF_IPERF);
    }
  }
}
