/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * PUT and GET of values beside Redis; and, on the datanode's host, beside a lookup and a memory
 * copy of as many bytes, which is the least that they can take.
 */
final class KeyValueSection extends Section {
  private static final int[] SIZES = {4, 64, 1 << 10, 4 << 10, 64 << 10, 1 << 20};

  /** More in flight than that would be more bytes than caches, and buffers of sockets, hold. */
  private static final int[] DEEP_SIZES = {4, 64, 1 << 10, 4 << 10};

  /** Sizes of which as many are moved in the same time. */
  private static final int[][] GROUPS = {DEEP_SIZES, {64 << 10}, {1 << 20}};

  private static final String[] WAYS = {"TCP", "mapped"};
  private static final int KEYS = 2_000;
  private static final int COPY_REGION = 64 << 20;
  private static final long MAX_KEPT_BYTES = 128 << 20;
  private static final long MAX_MOVED_BYTES = 256 << 20;
  private static final int OPERATIONS = 10_000;
  private static final int DEEP_OPERATIONS = 200_000;
  private static final String LOOKUP = "lookup, one in flight";
  private static final double SAME_HOST = 1.2;

  /** Creates the section. */
  KeyValueSection(Comparison with) {
    super(with);
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    MemoryCopies.measure(with, samples, COPY_REGION, SIZES);
    latency(LOOKUP, "-t getFile -f /ready.dat -k 20000 -w 20000", true);
    for (int[] sizes : GROUPS) {
      for (boolean put : new boolean[] {true, false}) {
        for (int size : sizes) {
          redisLatency(redis(put, size, 1), load(put, sizes, size, 1));
        }
        for (String way : WAYS) {
          boolean mapped = way.equals("mapped");
          String command = command(put, sizes, 1);
          String shown = Cluster.shown("iobench", command + sizesOf(sizes), mapped);
          sweep(command, sizes, mapped)
              .forEach((size, text) -> latency(crail(put, size, 1, way), shown, text));
        }
      }
    }
    for (boolean put : new boolean[] {true, false}) {
      for (int size : DEEP_SIZES) {
        redisRate(redis(put, size, DEPTH), load(put, DEEP_SIZES, size, DEPTH));
      }
      String command = command(put, DEEP_SIZES, DEPTH);
      String shown = Cluster.shown("iobench", command + sizesOf(DEEP_SIZES), false);
      sweep(command, DEEP_SIZES, false)
          .forEach(
              (size, text) ->
                  samples.add(
                      crail(put, size, DEPTH, "TCP"),
                      "/s",
                      shown,
                      Samples.number(text, "throughput")));
    }
  }

  private static int largest(int[] sizes) {
    return sizes[sizes.length - 1];
  }

  private static int keys(int[] sizes) {
    return (int) Math.min(KEYS, MAX_KEPT_BYTES / largest(sizes));
  }

  private static int operations(int[] sizes, int depth) {
    return (int)
        Math.min(depth == 1 ? OPERATIONS : DEEP_OPERATIONS, MAX_MOVED_BYTES / largest(sizes));
  }

  private static String command(boolean put, int[] sizes, int depth) {
    int count = operations(sizes, depth);
    return "-t "
        + (put ? "putKeyValue" : "getKeyValue")
        + " -n "
        + keys(sizes)
        + " -b "
        + depth
        + " -k "
        + count
        + " -w "
        + Math.max(32, count / 2)
        + (put ? " -f /put" : " -f /get");
  }

  private static Redis.Load load(boolean put, int[] sizes, int size, int depth) {
    return new Redis.Load(
        put ? "set" : "get", keys(sizes), size, 1, depth, operations(sizes, depth));
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
    boolean hasRedis = has(Comparison.Peer.REDIS);
    for (boolean put : new boolean[] {true, false}) {
      for (int size : SIZES) {
        goals.add(
            crail(put, size, 1, "mapped"),
            "us p50",
            SAME_HOST,
            new Goals.Limit(LOOKUP, 1),
            new Goals.Limit(MemoryCopies.name(put, size), 1));
        if (hasRedis) {
          for (String way : WAYS) {
            goals.add(crail(put, size, 1, way), redis(put, size, 1), "us p50", 1);
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
              "median latency [us]",
              "us p50",
              true,
              one));
      plot(
          new Plot(what + "-128", title + ", 128 in flight", "operations [1/s]", "/s", true, deep));
    }
  }

  private static Plot.Series over(String name, int[] sizes, String ofZero) {
    return Plot.Series.overSizes(name, sizes, ofZero.replace("0 B", "%s"));
  }
}
