/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Recorder;
import io.crail.conf.CrailConfiguration;
import io.crail.lab.figures.Samples;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Usage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/**
 * Makes a spread directory with many files, lists it, deletes some of them one by one, and removes
 * the rest at once, after spread directories without children. Other clients must be silent, since
 * all nodes are counted until those that were removed are gone.
 *
 * <pre>
 * SpreadChildren children deletes [key=value ...]
 * </pre>
 *
 * <p>It prints {@code creates <per second> page <us> names <per second> deletes <per second> empty
 * <us> removal <us> freed <per second>}. The page is the first one of a listing, names are those of
 * whole ones, empty and removal are the times until the answer. Freed are the files that were left,
 * from the request to remove them until no node of them is counted.
 */
public final class SpreadChildren {
  private static final String DIRECTORY = "/children";
  private static final int IN_FLIGHT = 128;
  private static final int LISTINGS = 15;
  private static final int EMPTY = 30;
  private static final long PATIENCE_NANOS = 600_000_000_000L;
  private static final double NANOS_PER_MICRO = 1e3;
  private static final double NANOS_PER_SECOND = 1e9;

  private final CrailStore store;
  private final NamenodeQuery query;
  private final int children;
  private final RandomNames names;

  private SpreadChildren(CrailStore store, NamenodeQuery query, int children) {
    this.store = store;
    this.query = query;
    this.children = children;
    this.names = new RandomNames(DIRECTORY, children, 0);
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws Exception {
    CrailConfiguration configuration = CrailConfiguration.createEmptyConfiguration();
    for (String setting : List.of(args).subList(2, args.length)) {
      int at = setting.indexOf('=');
      configuration.set(setting.substring(0, at), setting.substring(at + 1));
    }
    CrailStore store = CrailStore.newInstance(configuration);
    try (NamenodeQuery query = NamenodeQuery.open(configuration.toConfiguration(), "children")) {
      new SpreadChildren(store, query, Integer.parseInt(args[0]))
          .measure(Integer.parseInt(args[1]));
    } finally {
      store.close();
    }
  }

  private void measure(int deletes) throws Exception {
    long others = nodes();
    make(DIRECTORY);
    double creates = rate(children, path -> create(path, CrailNodeType.DATAFILE));
    List<Double> pages = new ArrayList<>();
    List<Double> listings = new ArrayList<>();
    // Each one is read to its end. Otherwise a page of it would be on its way beside the next one.
    for (int i = 0; i < LISTINGS; i++) {
      listings.add(perSecond(children, micros(() -> list(pages))));
    }
    double deleted = rate(deletes, path -> store.delete(path, false));
    List<Double> empty = new ArrayList<>();
    for (int i = 0; i < EMPTY; i++) {
      make(DIRECTORY + i);
    }
    for (int i = 0; i < EMPTY; i++) {
      String path = DIRECTORY + i;
      empty.add(micros(() -> store.delete(path, true).get()));
    }
    final long begin = System.nanoTime();
    double removal = micros(() -> store.delete(DIRECTORY, true).get());
    awaitNodes(others);
    double freed = perSecond(children - deletes, (System.nanoTime() - begin) / NANOS_PER_MICRO);
    System.out.println(
        String.format(
            Locale.ROOT,
            "creates %.0f page %.1f names %.0f deletes %.0f empty %.1f removal %.1f freed %.0f",
            creates,
            Samples.median(pages),
            Samples.median(listings),
            deleted,
            Samples.median(empty),
            removal,
            freed));
  }

  private void make(String path) throws Exception {
    store
        .createSpread(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
  }

  private Future<CrailNode> create(String path, CrailNodeType type) throws Exception {
    return store.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true);
  }

  /** Begins an operation on a child. */
  private interface Issue {
    Future<CrailNode> issue(String path) throws Exception;
  }

  /** Operations a second on the first children, many in flight. */
  private double rate(int count, Issue issue) throws Exception {
    Pipeline.Operation<CrailNode> operation =
        new Pipeline.Operation<>() {
          private int next;

          @Override
          public Future<CrailNode> issue(int slot) throws Exception {
            return issue.issue(names.path(next++));
          }

          @Override
          public long complete(CrailNode node, int slot) throws IOException {
            if (node == null) {
              throw new IOException("a child is not there");
            }
            return 0;
          }
        };
    Recorder recorder = new Recorder(System::nanoTime);
    double micros =
        micros(
            () -> {
              new Pipeline<>(IN_FLIGHT, operation).run(count, recorder);
              return count;
            });
    return perSecond(count, micros);
  }

  private static double perSecond(int count, double micros) {
    return count / micros * NANOS_PER_SECOND / NANOS_PER_MICRO;
  }

  private static double micros(Callable<?> work) throws Exception {
    long begin = System.nanoTime();
    work.call();
    return (System.nanoTime() - begin) / NANOS_PER_MICRO;
  }

  /** Lists all children. Adds the microseconds until the first one to {@code pages}. */
  private int list(List<Double> pages) throws Exception {
    long begin = System.nanoTime();
    Iterator<String> all = store.lookup(DIRECTORY).get().asContainer().listEntries();
    all.next();
    pages.add((System.nanoTime() - begin) / NANOS_PER_MICRO);
    int count = 1;
    for (; all.hasNext(); all.next()) {
      count++;
    }
    if (count != children) {
      throw new IOException(count + " of " + children + " children are listed");
    }
    return count;
  }

  /** Waits until there are only so many nodes. */
  private void awaitNodes(long others) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    for (long left = nodes() - others; left > 0; left = nodes() - others) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(left + " nodes are still there");
      }
      Thread.sleep(1);
    }
  }

  private long nodes() throws IOException, InterruptedException {
    return query.ask(NameNodeOperations.USAGE, new Usage.Request()).stream()
        .mapToLong(Usage.Response::nodes)
        .sum();
  }
}
