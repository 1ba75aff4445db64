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
  private static final int REGION = 512 << 20;
  private static final String FILE = " -f /stream.dat";
  private static final String IPERF = "iperf3, one stream";
  private static final String[] TYPES = {"write", "readSequential"};
  private static final boolean[] BUFFERED = {true, false};
  private static final double OF_IPERF = 0.9;

  /** A copy that takes at most 1.2 times as long. */
  private static final double OF_COPY = 0.83;

  // Several experiments in one process: the median is of those after the code was compiled.
  private static final String WHOLE =
      " -s " + PIECE + " -k " + REGION / PIECE + " -e 5 -o true" + FILE;

  private static final String SWEEP = " -k 8192 -e 3 -o true" + FILE;

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
    if (mapped) {
      MemoryCopies.measure(with, samples, REGION, SIZES);
    } else if (has(Comparison.Peer.IPERF)) {
      samples.add(
          IPERF, "MB/s", "iperf3 -c 127.0.0.1 -l 1M -t 3", Iperf.megabytes(with.programs()));
    }
    for (String type : TYPES) {
      for (boolean buffered : BUFFERED) {
        bytes(name(type, buffered, PIECE), "-t " + type + " -m " + buffered + WHOLE, mapped);
      }
      bytes(async(type), "-t " + type + "Async -b 8" + WHOLE, mapped);
    }
    for (String type : TYPES) {
      for (boolean buffered : BUFFERED) {
        String load = "-t " + type + " -m " + buffered + SWEEP;
        String shown = Cluster.shown("iobench", load + sizesOf(SMALLER), mapped);
        sweep(load, SMALLER, mapped)
            .forEach((size, text) -> bytes(name(type, buffered, size), shown, text));
      }
    }
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
      goals.add(figure, MemoryCopies.name(type.equals("write"), PIECE), "MB/s", OF_COPY);
    } else if (has(Comparison.Peer.IPERF)) {
      goals.add(figure, IPERF, "MB/s", OF_IPERF);
    }
  }
}
