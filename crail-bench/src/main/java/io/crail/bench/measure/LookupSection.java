/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Lookups with many in flight beside Redis, the namenode of HDFS, and bare messages. */
final class LookupSection extends Section {
  /** The directory of the names. */
  static final String DIRECTORY = "/names";

  /** Names that are looked up at random. */
  static final int NAMES = 1_000_000;

  /** Bytes of a value of Redis: about what an answer to a lookup has. */
  static final int REDIS_VALUE = 64;

  private static final long LOOKUPS = 3_000_000;
  private static final int HDFS_THREADS = 32;
  private static final String RANDOM =
      "-t getMultiFileAsync -f " + DIRECTORY + " -n " + NAMES + " -b " + DEPTH;
  private static final String HOT = "-t getFileAsync -f /ready.dat -b " + DEPTH;
  private static final String COUNT = " -k " + LOOKUPS + " -w 1000000";
  private static final String HDFS_LOAD = "-t getFile -k 3000 -w 1500 --threads " + HDFS_THREADS;

  private static final String CRAIL_RANDOM = "getFile, 128 in flight, random names";
  private static final String CRAIL_HOT = "getFile, 128 in flight, the same name";
  private static final String REDIS_RANDOM = "Redis GET, 128 in flight, random keys";
  private static final String REDIS_HOT = "Redis GET, 128 in flight, the same key";
  private static final String HDFS = "HDFS getFileInfo, " + HDFS_THREADS + " threads";
  private static final String BLOCKING = "bare messages, blocking, 128 in flight";
  private static final String SELECTOR = "bare messages, selector, 128 in flight";

  /** Creates the section. */
  LookupSection(Comparison with) {
    super(with);
  }

  /** Makes the names of all sections that look them up; those that are there stay. */
  static void createNames(Comparison with) throws IOException, InterruptedException {
    with.iobench(RANDOM + " -k 1 -w 0", true);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    with.say("  making " + NAMES + " names ...");
    createNames(with);
    if (has(Comparison.Peer.REDIS)) {
      with.redis().fill(NAMES, REDIS_VALUE);
    }
    if (has(Comparison.Peer.HDFS)) {
      with.hdfsbench("-t writeSequentialHeap -s 1024 -k 1 --touch false", "/key.dat");
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    redisRate(REDIS_RANDOM, redisLoad(NAMES));
    rate(CRAIL_RANDOM, RANDOM + COUNT, true);
    redisRate(REDIS_HOT, redisLoad(0));
    rate(CRAIL_HOT, HOT + COUNT, true);
    echo(BLOCKING, "blocking");
    echo(SELECTOR, "selector");
    if (has(Comparison.Peer.HDFS)) {
      samples.add(
          HDFS,
          "/s",
          Comparison.shownHdfs(HDFS_LOAD, "/key.dat"),
          Samples.number(with.hdfsbench(HDFS_LOAD, "/key.dat"), "throughput"));
    }
  }

  private static Redis.Load redisLoad(int keys) {
    return new Redis.Load("get", keys, REDIS_VALUE, 1, DEPTH, LOOKUPS);
  }

  private void echo(String name, String mode) throws IOException, InterruptedException {
    Echo echo = Echo.lookup(mode, DIRECTORY + "/f00000000");
    String text = echo.run(with.programs(), DEPTH, LOOKUPS);
    samples.add(name, "/s", echo.shown(), Samples.number(text, "rate"));
  }

  @Override
  protected void compare() {
    Map<String, String> bars = new LinkedHashMap<>();
    bars.put("Crail, random names", CRAIL_RANDOM);
    bars.put("Crail, one name", CRAIL_HOT);
    if (has(Comparison.Peer.REDIS)) {
      goals.add(CRAIL_RANDOM, REDIS_RANDOM, "/s", 4);
      goals.add(CRAIL_HOT, REDIS_HOT, "/s", 1.5);
      bars.put("Redis, random keys", REDIS_RANDOM);
      bars.put("Redis, one key", REDIS_HOT);
    }
    if (has(Comparison.Peer.HDFS)) {
      goals.add(CRAIL_RANDOM, HDFS, "/s", 80);
      bars.put("HDFS, one name, 32 threads", HDFS);
    }
    goals.add(CRAIL_RANDOM, BLOCKING, "/s", 0);
    goals.add(CRAIL_HOT, BLOCKING, "/s", 0);
    bars.put("bare messages", BLOCKING);
    plot(
        new Plot(
            "lookups",
            "Lookups, 128 in flight",
            "lookups [1/s]",
            "/s",
            false,
            List.of(new Plot.Series("one client", bars))));
  }
}
