/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.common.config.Configuration;
import io.crail.lab.programs.NamenodeQuery;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks the namenodes at a steady rate how many operations they have served. Owns a thread, which
 * ends with {@link #close}.
 */
final class NamenodeWatch implements AutoCloseable {
  /** Only a job on Crail is watched, so it must cost next to nothing. */
  private static final long PAUSE_MILLIS = 1000;

  private static final String LINE = "operation ";
  private static final long END_SECONDS = 60;

  private final NamenodeQuery query;
  private final CountDownLatch end = new CountDownLatch(1);
  private final List<NamenodeLoad.Sample> samples = new ArrayList<>();
  private final Thread thread = new Thread(this::watch, "namenode-watch");
  private IOException failure;

  private NamenodeWatch(Configuration configuration) throws IOException {
    query = NamenodeQuery.open(configuration, "namenode-watch");
    thread.setDaemon(true);
  }

  /** Begins to ask the namenodes of a configuration. */
  static NamenodeWatch start(Configuration configuration) throws IOException {
    NamenodeWatch watch = new NamenodeWatch(configuration);
    watch.thread.start();
    return watch;
  }

  private void watch() {
    try {
      // A late answer is not followed by an early one: their distance divides what was counted.
      do {
        samples.add(sample());
      } while (!end.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
    } catch (IOException e) {
      failure = e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private NamenodeLoad.Sample sample() throws IOException, InterruptedException {
    Map<String, Long> counts = new TreeMap<>();
    for (Dump.Response page : query.ask(NameNodeOperations.DUMP, new Dump.Request(0))) {
      counts(page.text().toString()).forEach((name, count) -> counts.merge(name, count, Long::sum));
    }
    return new NamenodeLoad.Sample(System.currentTimeMillis(), counts);
  }

  /** What the first page of a dump says about operations, without the dumps themselves. */
  static Map<String, Long> counts(String page) {
    Map<String, Long> counts = new TreeMap<>();
    page.lines()
        .filter(line -> line.startsWith(LINE))
        .map(line -> line.split(" "))
        .forEach(words -> counts.put(words[1], Long.valueOf(words[2])));
    counts.remove(NameNodeOperations.DUMP.name());
    return counts;
  }

  /**
   * Ends, and returns what it has noted.
   *
   * @throws IOException when a namenode did not answer
   */
  List<NamenodeLoad.Sample> end() throws IOException, InterruptedException {
    end.countDown();
    thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
    if (thread.isAlive()) {
      throw new IOException("a namenode does not answer");
    }
    if (failure != null) {
      throw failure;
    }
    return samples;
  }

  @Override
  public void close() throws InterruptedException {
    end.countDown();
    thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
    query.close();
  }
}
