/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;

/**
 * Bytes of heap that a file costs a namenode, and what the servers allocate for an operation. Their
 * JVMs tell it themselves, in a cluster that is measured for nothing else.
 */
final class MemorySection extends Section {
  private static final String BYTES = "bytes";

  /** The most that a file may cost. */
  private static final double FILE_BYTES = 200;

  /** What the measuring itself allocates is less than this, spread over the operations. */
  private static final double NOTHING = 0.5;

  private static final int LOOKUPS = 2_000_000;
  private static final int TRANSFERS = 200_000;
  private static final String FILE = "namenode, a file";
  private static final String LOOKUP = "allocated by the namenode, a lookup";
  private static final String WRITE = "allocated by the datanode, a write of 1 KiB";
  private static final String READ = "allocated by the datanode, a read of 1 KiB";

  private Cluster cluster;
  private int namenodePort;
  private int datanodePort;

  /** Creates the section. */
  MemorySection(Comparison with) {
    super(with);
  }

  @Override
  protected int runs() {
    // It is the same each time, as long as nothing else is wrong.
    return 1;
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    start();
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    try (Jvm namenode = Jvm.connect(namenodePort);
        Jvm datanode = Jvm.connect(datanodePort)) {
      measureFiles(namenode);
      allocation(LOOKUP, namenode, "-t getFileAsync -b 128 -f /ready.dat", LOOKUPS);
      allocation(WRITE, datanode, "-t writeAsync -b 32 -s 1024 -f /moved.dat", TRANSFERS);
      allocation(READ, datanode, "-t readSequentialAsync -b 32 -s 1024 -f /moved.dat", TRANSFERS);
    }
  }

  private void start() throws IOException, InterruptedException {
    namenodePort = Cluster.freePort();
    datanodePort = Cluster.freePort();
    cluster =
        with.newCluster(
            with.setup().withJvms(Jvm.options(namenodePort), Jvm.options(datanodePort)), 1 << 30);
  }

  private void measureFiles(Jvm namenode) throws IOException, InterruptedException {
    int files = with.options().files();
    String create = "-t getMultiFileAsync -f /files -w 0 -k 1 -n " + files;
    with.say("  making " + files + " files ...");
    long before = namenode.usedHeapBytes();
    with.programs().run(cluster.iobench(create, true));
    double bytes = namenode.usedHeapBytes() - before;
    samples.add(
        FILE,
        BYTES,
        "heap after collections, " + Cluster.shown("iobench", create, true),
        bytes / files);
  }

  private void allocation(String name, Jvm server, String load, int operations)
      throws IOException, InterruptedException {
    String command = load + " --touch false -w 0 -k ";
    // The first time lets the server compile and load what it needs.
    with.programs().run(cluster.iobench(command + operations, false));
    long whole = allocated(server, command + operations);
    // What a client costs that does next to nothing, and asking for all this.
    long client = allocated(server, command + 1);
    samples.add(
        name,
        BYTES,
        Cluster.shown("iobench", command + operations, false),
        Math.max(0, (double) (whole - client) / operations));
  }

  private long allocated(Jvm server, String command) throws IOException, InterruptedException {
    long before = server.allocatedBytes();
    with.programs().run(cluster.iobench(command, false));
    return server.allocatedBytes() - before;
  }

  @Override
  protected void end() throws InterruptedException {
    if (cluster != null) {
      cluster.stop();
      cluster = null;
    }
  }

  @Override
  protected void compare() {
    goals.addAlone(FILE, BYTES, FILE_BYTES);
    for (String allocated : new String[] {LOOKUP, WRITE, READ}) {
      goals.addAlone(allocated, BYTES, NOTHING);
    }
  }
}
