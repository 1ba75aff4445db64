/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;

/** Small files and streams beside HDFS, each through its own interface. */
final class HdfsSection extends Section {
  private static final String SMALL = " -s 1024 -k 2000 -w 2000";
  private static final String CREATE = "-t createFile -k 1500 -w 1500";
  private static final String STREAM = " -s 1048576 -k 256 -e 3 -o true";

  /** Creates the section. */
  HdfsSection(Comparison with) {
    super(with);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    if (has(Comparison.Peer.HDFS)) {
      with.hdfsbench("-t writeSequentialHeap -s 1024 -k 1 --touch false", "/key.dat");
      with.iobench("-t write -s 1024 -k 1 --touch false -f /key.dat", true);
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    if (!has(Comparison.Peer.HDFS)) {
      return;
    }
    hdfsLatency("open, read, close 1 KiB, HDFS", "-t keyGet" + SMALL, "/key.dat");
    for (String how : new String[] {"TCP", "mapped"}) {
      boolean mapped = how.equals("mapped");
      latency(
          "open, read, close 1 KiB, Crail " + how, "-t getKey" + SMALL + " -f /key.dat", mapped);
    }
    hdfsLatency("create, close, HDFS", CREATE, "/created");
    latency("create, close, Crail", CREATE + " -f /created", true);
    stream("write", "writeSequentialHeap", "write");
    stream("read", "readSequentialHeap", "readSequential");
  }

  private void hdfsLatency(String name, String arguments, String path)
      throws IOException, InterruptedException {
    latency(name, Comparison.shownHdfs(arguments, path), with.hdfsbench(arguments, path));
  }

  private void stream(String name, String hdfsType, String type)
      throws IOException, InterruptedException {
    String load = "-t " + hdfsType + STREAM;
    bytes(
        name + " 256 MiB, HDFS",
        Comparison.shownHdfs(load, "/peer.dat"),
        with.hdfsbench(load, "/peer.dat"));
    for (String how : new String[] {"TCP", "mapped"}) {
      bytes(
          name + " 256 MiB, Crail " + how,
          "-t " + type + STREAM + " -f /peer.dat",
          how.equals("mapped"));
    }
  }

  @Override
  protected void end() throws InterruptedException {
    with.stopHdfs();
  }

  @Override
  protected void compare() {
    if (!has(Comparison.Peer.HDFS)) {
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
