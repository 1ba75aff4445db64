/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.List;

/**
 * Reads from random places of an open file. Over TCP they are compared with a bare ping-pong with
 * answers of the same size, and with HDFS. On the datanode's host they are compared with copies
 * from random places.
 */
final class RandomReadSection extends Section {
  private static final int[] SIZES = {4, 1 << 10, 4 << 10, 64 << 10, 256 << 10};

  /** Sizes that an answer of the ping-pong can have. */
  private static final int[] SMALL_SIZES = {4, 1 << 10, 4 << 10};

  private static final int[] LARGE_SIZES = {64 << 10, 256 << 10};
  private static final int FILE_BYTES = 256 << 20;
  private static final int REQUEST = 64;
  private static final int ANSWER_HEADER = 32;
  private static final String FILE = "/random.dat";
  private static final String HDFS_LOAD = "-t readRandomHeap -s 4096 -k 3000 -w 5000";
  private static final String HDFS = "read 4 KiB at random, HDFS";

  /** Creates the section. */
  RandomReadSection(CompareSession with) {
    super(with);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    String write = " -s 1048576 -k " + (FILE_BYTES >> 20) + " --touch false";
    with.iobench("-t write" + write + " -f " + FILE, true);
    if (has(CompareSession.Peer.HDFS)) {
      with.hdfsbench("-t writeSequentialHeap" + write, FILE);
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    inTurn(this::echo, () -> measure("TCP", " -k 10000 -w 10000", SMALL_SIZES), this::hdfs);
    inTurn(
        () -> MemoryCopies.measureRandom(with, samples, FILE_BYTES, SMALL_SIZES),
        // An operation takes a microsecond, so it needs this many until the code is compiled.
        () -> measure("mapped", " -k 200000 -w 300000", SMALL_SIZES));
    if (isFirstRun()) {
      measure("TCP", " -k 4000 -w 4000", LARGE_SIZES);
      MemoryCopies.measureRandom(with, samples, FILE_BYTES, LARGE_SIZES);
      measure("mapped", " -k 10000 -w 20000", LARGE_SIZES);
    }
  }

  private void echo() throws IOException, InterruptedException {
    for (int size : SMALL_SIZES) {
      Echo echo = new Echo("selector", REQUEST, ANSWER_HEADER + size);
      latency(echoName(size), echo.shown(), echo.run(with.programs(), 1, 10_000));
    }
  }

  private void measure(String how, String count, int[] sizes)
      throws IOException, InterruptedException {
    boolean mapped = how.equals("mapped");
    String load = "-t readRandom -m false -f " + FILE + count;
    String shown = LabCluster.shown("iobench", load + sizesOf(sizes), mapped);
    sweep(load, sizes, mapped).forEach((size, text) -> latency(name(size, how), shown, text));
  }

  private void hdfs() throws IOException, InterruptedException {
    if (has(CompareSession.Peer.HDFS)) {
      latency(HDFS, CompareSession.shownHdfs(HDFS_LOAD, FILE), with.hdfsbench(HDFS_LOAD, FILE));
    }
  }

  private static String name(int size, String how) {
    return name(Samples.bytes(size), how);
  }

  private static String name(String size, String how) {
    return "read " + size + " at random, Crail " + how;
  }

  private static String echoName(int size) {
    return "ping-pong, selector, answer of " + Samples.bytes(size);
  }

  @Override
  protected void compare() {
    for (int size : SMALL_SIZES) {
      goals.add(name(size, "TCP"), echoName(size), "us p50", 1.4);
    }
    for (int size : SIZES) {
      goals.add(name(size, "mapped"), MemoryCopies.random(size), "us p50", 0);
    }
    if (has(CompareSession.Peer.HDFS)) {
      goals.add(name(4 << 10, "TCP"), HDFS, "us p50", 1);
      goals.add(name(4 << 10, "mapped"), HDFS, "us p50", 1);
    }
    plot(
        new Plot(
            "random-reads",
            "Reads from random places, one in flight",
            "median latency [µs]",
            "us p50",
            Plot.Axis.SIZE,
            List.of(
                Plot.Series.overSizes("Crail, TCP", SIZES, name("%s", "TCP")),
                Plot.Series.overSizes("Crail, same host", SIZES, name("%s", "mapped")))));
  }
}
