/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Lookups with many in flight, compared with Redis, the namenode of HDFS, and bare messages. */
final class LookupSection extends Section {
  /** The directory of the names. */
  static final String DIRECTORY = "/names";

  /** The number of names, which are looked up at random. */
  static final int NAMES = 1_000_000;

  /** Bytes of a value in Redis: about the size of an answer to a lookup. */
  static final int REDIS_VALUE = 64;

  private static final long LOOKUPS = 2_000_000;

  /** Redis takes as long for this as Crail for twice as many. */
  private static final long REDIS_LOOKUPS = 1_000_000;

  /**
   * The same number in flight as for Crail, and the number at which HDFS's namenode is near its
   * best.
   */
  private static final int[] HDFS_THREADS = {DEPTH, 32};

  /** HDFS would take minutes to create a million names. Fewer names are not harder to find. */
  private static final int HDFS_NAMES = 5_000;

  /** Lookups of HDFS in an experiment. In each process the last of four experiments counts. */
  private static final int HDFS_LOOKUPS = 24_000;

  /**
   * Lookups a second of Apache Crail's last source over its TCP binding, with 128 in flight: the
   * highest rate measured on a machine similar to this one. Apache Crail is not run here.
   */
  private static final double APACHE_CRAIL = 198_000;

  private static final String RANDOM =
      "-t getMultiFileAsync -f " + DIRECTORY + " -n " + NAMES + " -b " + DEPTH;
  private static final String HOT = "-t getFileAsync -f /ready.dat -b " + DEPTH;
  private static final String COUNT = " -k " + LOOKUPS + " -w " + DEEP_WARM_UP;
  private static final String CRAIL_RANDOM = "getFile, 128 in flight, random names";
  private static final String CRAIL_HOT = "getFile, 128 in flight, the same name";
  private static final String REDIS_RANDOM = "Redis GET, 128 in flight, random keys";
  private static final String REDIS_HOT = "Redis GET, 128 in flight, the same key";
  private static final String BLOCKING = "bare messages, blocking, 128 in flight";
  private static final String SELECTOR = "bare messages, selector, 128 in flight";

  /** Creates the section. */
  LookupSection(CompareSession with) {
    super(with);
  }

  /** Creates the names for all sections that look them up. Existing names stay. */
  static void createNames(CompareSession with) throws IOException, InterruptedException {
    with.iobench(RANDOM + " -k 1 -w 0", true);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    with.say("  making " + NAMES + " names ...");
    createNames(with);
    if (has(CompareSession.Peer.REDIS)) {
      with.redis().fill(NAMES, REDIS_VALUE);
    }
    if (has(CompareSession.Peer.HDFS)) {
      with.hdfsbench("-t getMultiFile -k 1 -w 0 -n " + HDFS_NAMES, DIRECTORY);
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    inTurn(
        () -> redisRate(REDIS_RANDOM, redisLoad(NAMES)),
        () -> rate(CRAIL_RANDOM, RANDOM + COUNT, true),
        this::hdfs);
    inTurn(
        () -> redisRate(REDIS_HOT, redisLoad(0)),
        () -> rate(CRAIL_HOT, HOT + COUNT, true),
        () -> echo(BLOCKING, "blocking"));
    if (isFirstRun()) {
      echo(SELECTOR, "selector");
    }
  }

  private void hdfs() throws IOException, InterruptedException {
    if (!has(CompareSession.Peer.HDFS)) {
      return;
    }
    for (int threads : HDFS_THREADS) {
      String load =
          "-t getMultiFile -n "
              + HDFS_NAMES
              + " -k "
              + HDFS_LOOKUPS / threads
              + " -w 0 -e 4 -o true --threads "
              + threads;
      samples.add(
          hdfsName(threads),
          "/s",
          CompareSession.shownHdfs(load, DIRECTORY),
          Samples.number(lastExperiment(with.hdfsbench(load, DIRECTORY)), "throughput"));
    }
  }

  private static String hdfsName(int threads) {
    return "HDFS getFileInfo, " + threads + " threads, random names";
  }

  private static Redis.Load redisLoad(int keys) {
    return new Redis.Load("get", keys, REDIS_VALUE, 1, DEPTH, REDIS_LOOKUPS);
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
    if (has(CompareSession.Peer.REDIS)) {
      goals.add(CRAIL_RANDOM, REDIS_RANDOM, "/s", 4);
      goals.add(CRAIL_HOT, REDIS_HOT, "/s", 1.5);
      bars.put("Redis, random keys", REDIS_RANDOM);
      bars.put("Redis, one key", REDIS_HOT);
    }
    if (has(CompareSession.Peer.HDFS)) {
      for (int threads : HDFS_THREADS) {
        goals.add(CRAIL_RANDOM, hdfsName(threads), "/s", 80);
        bars.put("HDFS, random names, " + threads + " threads", hdfsName(threads));
      }
    }
    goals.addRecorded(CRAIL_RANDOM, "/s", 15, "Apache Crail over TCP", APACHE_CRAIL);
    goals.add(CRAIL_RANDOM, BLOCKING, "/s", 0);
    goals.add(CRAIL_HOT, BLOCKING, "/s", 0);
    bars.put("bare messages", BLOCKING);
    plot(
        new Plot(
            "lookups",
            "Lookups, 128 in flight",
            "lookups [1/s]",
            "/s",
            Plot.Axis.LABELS,
            List.of(new Plot.Series("one client", bars))));
  }
}
