/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.common.Threads;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What an application has in the store, for people who do not wait long. Each namenode is asked in
 * a thread of its own, which goes on when no caller waits any more; one that comes meanwhile waits
 * for the same answer. Thread-safe.
 */
final class Holdings implements AutoCloseable {
  private static final long IDLE_SECONDS = 10;
  private static final long CLOSE_SECONDS = 30;

  private final Applications applications;
  private final String id;

  /** Paths of the roots, by the index of their namenode. */
  private final Map<Integer, List<String>> roots = new TreeMap<>();

  /** The last question to each of these namenodes. Guards itself. */
  private final Map<Integer, Future<Application>> asked = new TreeMap<>();

  private final ThreadPoolExecutor threads;

  Holdings(Applications applications, String id, List<String> roots) {
    this.applications = applications;
    this.id = id;
    for (String root : roots) {
      int namenode = UnansweringNamenodes.namenodeOf(root, applications.namenodes().size());
      this.roots.computeIfAbsent(namenode, key -> new ArrayList<>()).add(root);
    }
    int most = this.roots.size();
    this.threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(most),
            Threads.factory("crail-spark-holdings"));
    threads.allowCoreThreadTimeOut(true);
  }

  /** See {@link ApplicationStore#held}. */
  Report look(Duration patience) throws Exception {
    final long deadline = System.nanoTime() + patience.toNanos();
    Map<Integer, Future<Application>> answers = new TreeMap<>();
    for (int namenode : roots.keySet()) {
      answers.put(namenode, ask(namenode));
    }
    List<Application> parts = new ArrayList<>();
    List<MissingNamenode> missing = new ArrayList<>();
    for (Map.Entry<Integer, Future<Application>> each : answers.entrySet()) {
      try {
        long left = Math.max(0, deadline - System.nanoTime());
        parts.add(each.getValue().get(left, TimeUnit.NANOSECONDS));
      } catch (TimeoutException e) {
        String late = "asked for " + patience.toMillis() + " ms";
        missing.add(missing(each.getKey(), ErrorCode.TIMED_OUT.exception(late)));
      } catch (ExecutionException e) {
        Exception cause = e.getCause() instanceof Exception inner ? inner : e;
        missing.add(
            missing(each.getKey(), UnansweringNamenodes.down(cause).orElseThrow(() -> cause)));
      }
    }
    return new Report(parts.stream().reduce(Application::plus).stream().toList(), missing);
  }

  private MissingNamenode missing(int namenode, CrailException why) {
    return UnansweringNamenodes.missing(applications.namenodes(), namenode, why);
  }

  /** At most one question to each namenode is open. */
  private Future<Application> ask(int namenode) {
    synchronized (asked) {
      Future<Application> last = asked.get(namenode);
      if (last != null && !last.isDone()) {
        return last;
      }
      Future<Application> next = threads.submit(() -> applications.look(id, roots.get(namenode)));
      asked.put(namenode, next);
      return next;
    }
  }

  /** Ends the threads. */
  @Override
  public void close() throws InterruptedException {
    threads.shutdownNow();
    threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
