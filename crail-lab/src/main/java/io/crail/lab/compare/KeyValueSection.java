/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * PUT and GET of values, compared with Redis. On the datanode's host also compared with a lookup
 * and a memory copy of as many bytes, which is the lower bound. Each store holds all keys, with
 * values of the measured length, before either is measured.
 */
final class KeyValueSection extends Section {
  private static final int[] SIZES = {4, 1 << 10, 4 << 10, 64 << 10, 1 << 20};

  /** With more bytes in flight, caches and socket buffers would overflow. */
  private static final int[] DEEP_SIZES = {4, 1 << 10, 4 << 10};

  /**
   * Sizes that are measured one after the other in one process. Each has its own warm-up and
   * figures. All take about a second: long enough to compile the code for a size.
   *
   * @param sizes bytes of a value
   * @param depth operations in flight
   * @param warmUp operations of Crail's client before the measured ones
   * @param count measured operations, the same for Crail and Redis
   */
  private record Group(int[] sizes, int depth, int warmUp, int count) {
    /** The same number as Redis has, and few enough bytes for both stores. */
    int keys() {
      return (int) Math.min(KEYS, MAX_KEPT_BYTES / sizes[sizes.length - 1]);
    }

    /**
     * The memory to copy within: as many bytes as the largest values take, so that caches hold the
     * same fraction.
     */
    int copied() {
      return Integer.highestOneBit(Math.max(1 << 20, 2 * keys() * sizes[sizes.length - 1] - 1));
    }

    String command(boolean put) {
      return "-t "
          + (put ? "putKeyValue -f /put" : "getKeyValue -f /get")
          + " -n "
          + keys()
          + " -b "
          + depth
          + " -k "
          + count
          + " -w "
          + warmUp;
    }

    Redis.Load load(boolean put, int size) {
      return new Redis.Load(put ? "set" : "get", keys(), size, 1, depth, count);
    }
  }

  private static final Group[] GROUPS = {
    new Group(new int[] {4, 1 << 10}, 1, 8_000, 5_000),
    new Group(new int[] {4 << 10, 64 << 10}, 1, 5_000, 3_000),
    new Group(new int[] {1 << 20}, 1, 5_000, 500)
  };

  private static final Group[] DEEP_GROUPS = {
    new Group(new int[] {4, 1 << 10}, DEPTH, DEEP_WARM_UP, 400_000),
    new Group(new int[] {4 << 10}, DEPTH, 1_000_000, 800_000)
  };

  private static final String[] WAYS = {"TCP", "mapped"};
  private static final int KEYS = 2_000;
  private static final long MAX_KEPT_BYTES = 128 << 20;
  private static final double SAME_HOST = 1.2;

  /** Creates the section. */
  KeyValueSection(CompareSession with) {
    super(with);
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    with.apart();
    try {
      for (Group group : GROUPS) {
        inTurn(
            () -> redis(group, true),
            () -> crail(group, true, "TCP"),
            () -> crail(group, true, "mapped"),
            () -> least(group),
            () -> crail(group, false, "mapped"),
            () -> crail(group, false, "TCP"),
            () -> redis(group, false));
      }
    } finally {
      with.anywhere();
    }
    for (Group group : DEEP_GROUPS) {
      for (boolean put : new boolean[] {true, false}) {
        inTurn(() -> redis(group, put), () -> crail(group, put, "TCP"));
      }
    }
  }

  private void redis(Group group, boolean put) throws IOException, InterruptedException {
    if (!has(CompareSession.Peer.REDIS)) {
      return;
    }
    for (int size : group.sizes) {
      // A get reads the values of the last set, and a set should find the memory of an older value.
      with.redis().fill(group.keys(), size);
      Redis.Load load = group.load(put, size);
      if (group.depth == 1) {
        redisLatency(redis(put, size, 1), load);
      } else {
        redisRate(redis(put, size, group.depth), load);
      }
    }
  }

  private void crail(Group group, boolean put, String way)
      throws IOException, InterruptedException {
    boolean mapped = way.equals("mapped");
    String command = group.command(put);
    String shown = with.shown(LabCluster.shown("iobench", command + sizesOf(group.sizes), mapped));
    sweep(command, group.sizes, mapped)
        .forEach(
            (size, text) -> {
              String name = crail(put, size, group.depth, way);
              if (group.depth == 1) {
                latency(name, shown, text);
              } else {
                samples.add(name, "/s", shown, Samples.number(text, "throughput"));
              }
            });
  }

  /** The lower bound for a value on the same host. */
  private void least(Group group) throws IOException, InterruptedException {
    latency(lookup(group.sizes), "-t getFile -f /ready.dat -k 5000 -w 8000", true);
    MemoryCopies.measure(with, samples, group.copied(), group.sizes);
  }

  private static String lookup(int[] sizes) {
    return "lookup, one in flight, beside values of " + Samples.bytes(sizes[0]);
  }

  private static String crail(boolean put, int size, int depth, String way) {
    return (put ? "PUT " : "GET ") + Samples.bytes(size) + in(depth) + ", Crail " + way;
  }

  private static String redis(boolean put, int size, int depth) {
    return (put ? "SET " : "GET ") + Samples.bytes(size) + in(depth) + ", Redis";
  }

  private static String in(int depth) {
    return depth == 1 ? "" : ", " + depth + " in flight";
  }

  @Override
  protected void compare() {
    boolean hasRedis = has(CompareSession.Peer.REDIS);
    for (boolean put : new boolean[] {true, false}) {
      for (Group group : GROUPS) {
        for (int size : group.sizes) {
          goals.add(
              crail(put, size, 1, "mapped"),
              "us p50",
              SAME_HOST,
              new Goals.Limit(lookup(group.sizes), 1),
              new Goals.Limit(put ? MemoryCopies.name(true, size) : MemoryCopies.random(size), 1));
          if (hasRedis) {
            for (String way : WAYS) {
              goals.add(crail(put, size, 1, way), redis(put, size, 1), "us p50", 1);
            }
          }
        }
      }
      String what = put ? "put" : "get";
      List<Plot.Series> one = new ArrayList<>();
      one.add(over("Crail, TCP", SIZES, crail(put, 0, 1, "TCP")));
      one.add(over("Crail, same host", SIZES, crail(put, 0, 1, "mapped")));
      List<Plot.Series> deep = new ArrayList<>();
      deep.add(over("Crail, TCP", DEEP_SIZES, crail(put, 0, DEPTH, "TCP")));
      if (hasRedis) {
        one.add(over("Redis", SIZES, redis(put, 0, 1)));
        deep.add(over("Redis", DEEP_SIZES, redis(put, 0, DEPTH)));
        for (int size : DEEP_SIZES) {
          goals.add(crail(put, size, DEPTH, "TCP"), redis(put, size, DEPTH), "/s", 1);
        }
      }
      String title = put ? "PUT" : "GET";
      plot(
          new Plot(
              what + "-latency",
              title + ", one in flight",
              "median latency [µs]",
              "us p50",
              Plot.Axis.SIZE,
              one));
      plot(
          new Plot(
              what + "-128",
              title + ", 128 in flight",
              "operations [1/s]",
              "/s",
              Plot.Axis.SIZE,
              deep));
    }
  }

  private static Plot.Series over(String name, int[] sizes, String ofZero) {
    return Plot.Series.overSizes(name, sizes, ofZero.replace("0 B", "%s"));
  }
}
