/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.programs.LabCluster;
import java.io.IOException;

/**
 * Small files and streams, compared with HDFS. Reads and streams use the interface of each system.
 * Creates use Hadoop's interface for both, since a create and a close there are two steps of
 * Crail's.
 */
final class HdfsSection extends Section {
  private static final String SMALL = " -s 1024";
  private static final String STREAM = " -s 1048576 -k 256 -o true";

  // Crail needs more operations. They are so short that this number would end before the code is
  // compiled.
  private static final String HDFS_SMALL = SMALL + " -k 1000 -w 2000";
  private static final String CRAIL_SMALL = SMALL + " -k 5000 -w 15000";
  private static final String HDFS_CREATE = "-t createFile -k 800 -w 1200";
  private static final String CRAIL_CREATE = "-t createFile -k 3000 -w 8000 -f /created";
  private static final String HDFS_STREAM = STREAM + " -e 3 -w 32";
  private static final String CRAIL_STREAM = STREAM + " -e 5 -w 128";

  /** Creates the section. */
  HdfsSection(CompareSession with) {
    super(with);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    if (has(CompareSession.Peer.HDFS)) {
      with.hdfsbench("-t writeSequentialHeap -s 1024 -k 1 --touch false", "/key.dat");
      with.iobench("-t write -s 1024 -k 1 --touch false -f /key.dat", true);
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    if (!has(CompareSession.Peer.HDFS)) {
      return;
    }
    inTurn(
        () -> hdfsLatency("open, read, close 1 KiB, HDFS", "-t keyGet" + HDFS_SMALL, "/key.dat"),
        () -> open("TCP"),
        () -> open("mapped"));
    inTurn(() -> hdfsLatency("create, close, HDFS", HDFS_CREATE, "/created"), this::create);
    for (String how : new String[] {"write", "read"}) {
      inTurn(() -> hdfsStream(how), () -> stream(how, "TCP"), () -> stream(how, "mapped"));
    }
  }

  private void hdfsLatency(String name, String arguments, String path)
      throws IOException, InterruptedException {
    latency(name, CompareSession.shownHdfs(arguments, path), with.hdfsbench(arguments, path));
  }

  private void open(String way) throws IOException, InterruptedException {
    String load = "-t getKey" + CRAIL_SMALL + " -f /key.dat";
    latency("open, read, close 1 KiB, Crail " + way, load, way.equals("mapped"));
  }

  private void create() throws IOException, InterruptedException {
    String text = with.programs().run(with.cluster().bench("hdfsbench", CRAIL_CREATE, true));
    latency("create, close, Crail", LabCluster.shown("hdfsbench", CRAIL_CREATE, true), text);
  }

  private void hdfsStream(String how) throws IOException, InterruptedException {
    String type = how.equals("write") ? "writeSequentialHeap" : "readSequentialHeap";
    String load = "-t " + type + HDFS_STREAM;
    String text = with.hdfsbench(load, "/peer.dat");
    bytes(how + " 256 MiB, HDFS", CompareSession.shownHdfs(load, "/peer.dat"), text);
  }

  private void stream(String how, String way) throws IOException, InterruptedException {
    String load = "-t " + (how.equals("write") ? "write" : "readSequential") + CRAIL_STREAM;
    bytes(how + " 256 MiB, Crail " + way, load + " -f /peer.dat", way.equals("mapped"));
  }

  @Override
  protected void compare() {
    if (!has(CompareSession.Peer.HDFS)) {
      return;
    }
    for (String how : new String[] {"TCP", "mapped"}) {
      String small = "open, read, close 1 KiB, ";
      goals.add(small + "Crail " + how, small + "HDFS", "us p50", 1);
      for (String stream : new String[] {"write 256 MiB, ", "read 256 MiB, "}) {
        goals.add(stream + "Crail " + how, stream + "HDFS", "MB/s", 1);
      }
    }
    goals.add("create, close, Crail", "create, close, HDFS", "us p50", 1);
  }
}
