/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Jvm;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.Map;

/**
 * The heap that a file and a small value take in a namenode, and the bytes that servers allocate
 * for an operation. The JVMs of the servers report them, in clusters that are used for nothing
 * else.
 */
final class MemorySection extends Section {
  private static final String BYTES = "bytes";

  /** The most bytes that a file may take. */
  private static final double FILE_BYTES = 200;

  /** The measurement itself allocates less than this for each operation. */
  private static final double NOTHING = 0.5;

  private static final int LOOKUPS = 1_000_000;
  private static final int TRANSFERS = 75_000;

  /** How often allocation is measured before the section fails. */
  private static final int TRIES = 3;

  /** Small values in a namenode. A machine with 8 GiB has memory for more. */
  private static final int VALUES = 200_000;

  private static final int[] VALUE_SIZES = {16, 100, 1 << 10};

  /** The number of files that one namenode should hold. */
  private static final int MOST_FILES = 10_000_000;

  private static final String FILE = "namenode, a file";
  private static final String HELD = "files of one namenode";
  private static final String LOOKUP = "allocated by the namenode, a lookup";
  private static final String WRITE = "allocated by the datanode, a write of 1 KiB";
  private static final String READ = "allocated by the datanode, a read of 1 KiB";

  private LabCluster cluster;
  private int namenodePort;
  private int datanodePort;

  /** Creates the section. */
  MemorySection(CompareSession with) {
    super(with);
  }

  @Override
  protected int runs() {
    // Every run gives the same result.
    return 1;
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    for (int size : VALUE_SIZES) {
      start(64 << 20);
      try (Jvm namenode = Jvm.connect(namenodePort)) {
        measureValues(namenode, size);
      }
      end();
    }
    start(1 << 30);
    try (Jvm namenode = Jvm.connect(namenodePort);
        Jvm datanode = Jvm.connect(datanodePort)) {
      measureFiles(namenode);
      allocation(LOOKUP, namenode, "-t getFileAsync -b 128 -f /ready.dat", LOOKUPS);
      allocation(WRITE, datanode, "-t writeAsync -b 32 -s 1024 -f /moved.dat", TRANSFERS);
      allocation(READ, datanode, "-t readSequentialAsync -b 32 -s 1024 -f /moved.dat", TRANSFERS);
    }
  }

  private void start(long bytes) throws IOException, InterruptedException {
    namenodePort = LabCluster.freePort();
    datanodePort = LabCluster.freePort();
    cluster =
        with.newCluster(
            with.setup().withJvms(Jvm.options(namenodePort), Jvm.options(datanodePort)), bytes);
  }

  /** Values in a namenode that holds nothing else, and in Redis. */
  private void measureValues(Jvm namenode, int size) throws IOException, InterruptedException {
    String put = "-t getKeyValue -w 0 -k 1 -s " + size;
    // Loads the classes that the first value needs.
    with.programs().run(cluster.iobench(put + " -f /first -n 128", true));
    String command = put + " -f /values -n " + VALUES;
    long before = namenode.usedHeapBytes();
    with.programs().run(cluster.iobench(command, true));
    double bytes = (double) (namenode.usedHeapBytes() - before) / VALUES;
    String shown = "heap after collections, " + LabCluster.shown("iobench", command, true);
    samples.add(value(size), BYTES, shown, bytes);
    samples.add(value(size), BYTES + " beside its own", shown, bytes - size);
    String usage = with.programs().run(cluster.crail("df", "-b"));
    samples.add(
        value(size), BYTES + " that the namenode counts", "crail df", smallBytes(usage) / VALUES);
    if (has(CompareSession.Peer.REDIS)) {
      with.redis().fill(0, size);
      long empty = with.redis().usedBytes();
      with.redis().fill(VALUES, size);
      samples.add(
          redisValue(size),
          BYTES,
          "used_memory of " + VALUES + " values, redis-cli info memory",
          (double) (with.redis().usedBytes() - empty) / VALUES);
    }
  }

  /** The bytes of all small values in the output of df. Values at datanodes do not count. */
  static double smallBytes(String usage) {
    for (String line : usage.split("\n")) {
      if (line.contains(" of small values ")) {
        return Double.parseDouble(line.substring(0, line.indexOf(' ')));
      }
    }
    return 0;
  }

  private static String value(int size) {
    return "namenode, a value of " + Samples.bytes(size);
  }

  private static String redisValue(int size) {
    return "Redis, a value of " + Samples.bytes(size);
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
        "heap after collections, " + LabCluster.shown("iobench", create, true),
        bytes / files);
    samples.add(HELD, Goals.FILES, LabCluster.shown("iobench", create, true), files);
  }

  private void allocation(String name, Jvm server, String load, int operations)
      throws IOException, InterruptedException {
    String command = load + " --touch false -w 0 -k ";
    // In the first run the server compiles and loads classes.
    with.programs().run(cluster.iobench(command + 2 * operations, false));
    for (int i = 1; ; i++) {
      // The cost of a client's start and end is in both.
      long once = allocated(server, command + operations);
      long twice = allocated(server, command + 2 * operations);
      double each = (double) (twice - once) / operations;
      if (each > -NOTHING) {
        samples.add(
            name,
            BYTES,
            "twice as many less " + LabCluster.shown("iobench", command + operations, false),
            each);
        return;
      }
      if (i == TRIES) {
        throw new IOException(name + ": twice as many have allocated less, " + each + " bytes");
      }
    }
  }

  private long allocated(Jvm server, String command) throws IOException, InterruptedException {
    for (int i = 1; ; i++) {
      Map<Long, Long> before = server.allocatedBytes();
      with.programs().run(cluster.iobench(command, false));
      try {
        return Jvm.allocatedBetween(before, server.allocatedBytes());
      } catch (IOException e) {
        if (i == TRIES) {
          throw e;
        }
      }
    }
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
    goals.addAlone(HELD, Goals.FILES, MOST_FILES);
    if (has(CompareSession.Peer.REDIS)) {
      for (int size : VALUE_SIZES) {
        goals.add(value(size), redisValue(size), BYTES, 0);
      }
    }
    for (String allocated : new String[] {LOOKUP, WRITE, READ}) {
      goals.addAlone(allocated, BYTES, NOTHING);
    }
  }
}
