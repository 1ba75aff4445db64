/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.StaleNodeException;
import io.crail.spark.output.ParallelDelete;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * What Spark's applications have in a store, and their end when their processes are gone. It needs
 * no Spark. Thread-safe.
 */
public final class Applications {
  /**
   * What an application holds of a kind.
   *
   * @param files the number of files
   * @param bytes their length
   */
  public record Held(long files, long bytes) {
    static final Held NOTHING = new Held(0, 0);

    /** {@return both together} */
    public Held plus(Held other) {
      return new Held(files + other.files, bytes + other.bytes);
    }
  }

  /**
   * An application.
   *
   * @param id its name in the store
   * @param began when it began, by its driver's clock; empty where its name does not say it
   * @param lease how long it lives without a renewal
   * @param renewed the last renewal, by the clock of the process that renewed
   * @param shuffle map outputs
   * @param broadcast broadcast values
   * @param roots paths of its roots
   */
  public record Application(
      String id,
      Optional<Instant> began,
      Duration lease,
      Instant renewed,
      Held shuffle,
      Held broadcast,
      List<String> roots) {
    /** Copies the list. */
    public Application {
      roots = List.copyOf(roots);
    }

    /**
     * {@return whether its lease has ended, if clocks agree}
     *
     * @param now the time by the clock of this host
     */
    public boolean expired(Instant now) {
      return renewed.plus(lease).isBefore(now);
    }

    /** Both parts of an application together. */
    Application plus(Application other) {
      List<String> all = new ArrayList<>(roots);
      all.addAll(other.roots);
      return new Application(
          id,
          began,
          lease,
          renewed.isAfter(other.renewed) ? renewed : other.renewed,
          shuffle.plus(other.shuffle),
          broadcast.plus(other.broadcast),
          all);
    }
  }

  /**
   * What was found.
   *
   * @param applications ordered by id
   * @param missing namenodes that did not answer, so that their part is missing
   */
  public record Report(List<Application> applications, List<MissingNamenode> missing) {
    /** Copies the lists. */
    public Report {
      applications = List.copyOf(applications);
      missing = List.copyOf(missing);
    }
  }

  /**
   * What became of applications whose lease had ended.
   *
   * @param ended those that have ended, at all namenodes that answer
   * @param renewed those that live
   * @param missing namenodes that did not answer, so that their part may be left
   */
  public record Cleaned(
      List<Application> ended, List<Application> renewed, List<MissingNamenode> missing) {
    /** Copies the lists. */
    public Cleaned {
      ended = List.copyOf(ended);
      renewed = List.copyOf(renewed);
      missing = List.copyOf(missing);
    }
  }

  private final CrailStore store;
  private final List<InetSocketAddress> namenodes;

  /**
   * Creates it.
   *
   * @param store stays the caller's
   * @param namenodes their addresses, as the configuration of the store has them
   */
  public Applications(CrailStore store, List<InetSocketAddress> namenodes) {
    this.store = store;
    this.namenodes = List.copyOf(namenodes);
  }

  /** The addresses of the namenodes. */
  List<InetSocketAddress> namenodes() {
    return namenodes;
  }

  /**
   * Looks at all applications and all their files.
   *
   * @throws Exception when no namenode answers
   */
  public Report list() throws Exception {
    Map<String, Application> found = new TreeMap<>();
    UnansweringNamenodes absent = new UnansweringNamenodes(namenodes);
    try {
      Iterator<CrailNode> children = store.lookup("/").get().asContainer().listStatus();
      while (children.hasNext()) {
        CrailNode node = children.next();
        Optional<Roots.Root> root = Roots.parse(node.getPath());
        if (root.isPresent()) {
          absent
              .ask(node.getPath(), () -> look(node, root.get()))
              .ifPresent(part -> found.merge(part.id, part, Application::plus));
        }
      }
    } catch (UncheckedIOException e) {
      absent.addAll(missing(e));
    }
    return new Report(List.copyOf(found.values()), absent.missing());
  }

  /** The namenodes whose part a listing lacks; throws other errors. */
  private static List<MissingNamenode> missing(UncheckedIOException e) throws IOException {
    if (e.getCause() instanceof IncompleteException incomplete) {
      return incomplete.missing();
    }
    throw e.getCause();
  }

  /** Looks at one application. Some of its roots may be missing. */
  Application look(String id, Duration lease, List<String> roots) throws Exception {
    Application application =
        new Application(
            id, Roots.began(id), lease, Instant.EPOCH, Held.NOTHING, Held.NOTHING, List.of());
    for (String root : roots) {
      CrailNode node = store.lookup(root).get();
      if (node != null) {
        application = application.plus(look(node, new Roots.Root(id, lease)));
      }
    }
    return application;
  }

  private static Application look(CrailNode node, Roots.Root root) throws Exception {
    Held shuffle = Held.NOTHING;
    Held broadcast = Held.NOTHING;
    for (CrailNode directory : children(node)) {
      if (directory.getType().isContainer()) {
        Held held = held(directory);
        if (directory.getPath().endsWith("/broadcast")) {
          broadcast = broadcast.plus(held);
        } else {
          shuffle = shuffle.plus(held);
        }
      }
    }
    return new Application(
        root.application(),
        Roots.began(root.application()),
        root.lease(),
        Instant.ofEpochMilli(node.getAttributes().accessTime()),
        shuffle,
        broadcast,
        List.of(node.getPath()));
  }

  /** What a directory holds; nothing when the application deletes it meanwhile. */
  private static Held held(CrailNode directory) throws Exception {
    // They may be many, so they are not kept.
    long[] sums = new long[2];
    boolean isThere =
        forEach(
            directory,
            file -> {
              sums[0]++;
              sums[1] += file.getCapacity();
            });
    return isThere ? new Held(sums[0], sums[1]) : Held.NOTHING;
  }

  /** The children; none when the application deletes them meanwhile. */
  private static List<CrailNode> children(CrailNode directory) throws Exception {
    List<CrailNode> children = new ArrayList<>();
    return forEach(directory, children::add) ? children : List.of();
  }

  /** Takes the children; false when the application deletes them meanwhile. */
  private static boolean forEach(CrailNode directory, Consumer<CrailNode> taker) throws Exception {
    try {
      directory.asContainer().listStatus().forEachRemaining(taker);
      return true;
    } catch (StaleNodeException | NodeNotFoundException e) {
      return false;
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof StaleNodeException
          || e.getCause() instanceof NodeNotFoundException) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Ends an application at once, whether it lives or not.
   *
   * @return namenodes that did not answer, so that their part may be left
   */
  public List<MissingNamenode> end(Application application) throws Exception {
    ParallelDelete removals = new ParallelDelete(store);
    for (String root : application.roots) {
      removals.add(root);
    }
    removals.await();
    UnansweringNamenodes absent = new UnansweringNamenodes(namenodes);
    for (Map.Entry<String, Exception> failure : removals.failures().entrySet()) {
      absent.add(failure.getKey(), failure.getValue());
    }
    return absent.missing();
  }

  /**
   * Ends applications whose lease has ended. Clocks need not agree: it watches each for as long as
   * its lease, until no process can have renewed it, or one has. An application is not watched any
   * more when none of its namenodes answers.
   *
   * @param suspects applications as they were seen before
   * @throws InterruptedException when the thread is interrupted
   */
  public Cleaned endUnlessRenewed(List<Application> suspects) throws Exception {
    RootCleaner cleaner = new RootCleaner(store, System::nanoTime);
    List<Application> open = new ArrayList<>(suspects);
    Map<Sight, List<Application>> seen = new EnumMap<>(Sight.class);
    Map<String, Long> times = new HashMap<>();
    UnansweringNamenodes ever = new UnansweringNamenodes(namenodes);
    while (true) {
      UnansweringNamenodes absent = new UnansweringNamenodes(namenodes);
      clean(cleaner, open, absent);
      for (Application each : List.copyOf(open)) {
        Sight sight = look(each, times, absent);
        if (sight != Sight.STILL) {
          open.remove(each);
          seen.computeIfAbsent(sight, key -> new ArrayList<>()).add(each);
        }
      }
      ever.addAll(absent.missing());
      if (open.isEmpty()) {
        return new Cleaned(
            seen.getOrDefault(Sight.GONE, List.of()),
            seen.getOrDefault(Sight.RENEWED, List.of()),
            ever.missing());
      }
      Duration shortest = open.stream().map(Application::lease).min(Duration::compareTo).get();
      Thread.sleep(shortest.dividedBy(RootCleaner.LOOKS).toMillis());
    }
  }

  /** Deletes the roots of applications that no process has renewed, where a namenode answers. */
  private static void clean(
      RootCleaner cleaner, List<Application> open, UnansweringNamenodes absent) throws Exception {
    Set<String> roots = new HashSet<>();
    open.forEach(each -> roots.addAll(each.roots));
    try {
      cleaner.clean(roots::contains);
    } catch (UncheckedIOException e) {
      absent.addAll(missing(e));
    } catch (ExecutionException | CrailException e) {
      if (UnansweringNamenodes.down(e).isEmpty()) {
        throw e;
      }
      // Its namenode is found when its roots are looked at.
    }
  }

  /** What is seen of an application that is watched. */
  private enum Sight {
    /** No process has renewed its lease yet. */
    STILL,
    /** A process has renewed its lease. */
    RENEWED,
    /** It has no root any more, where a namenode answers. */
    GONE,
    /** No namenode answers. */
    HIDDEN
  }

  /**
   * Looks at the roots of an application that is watched.
   *
   * @param times access times of roots, as they were seen first
   */
  private Sight look(Application application, Map<String, Long> times, UnansweringNamenodes absent)
      throws Exception {
    Sight sight = Sight.HIDDEN;
    for (String root : application.roots) {
      Optional<CrailNode> node = absent.ask(root, () -> store.lookup(root).get());
      if (node.isPresent()) {
        long time = node.get().getAttributes().accessTime();
        Long first = times.putIfAbsent(root, time);
        if (first != null && first != time) {
          return Sight.RENEWED;
        }
        sight = Sight.STILL;
      } else if (sight == Sight.HIDDEN && !absent.has(root)) {
        sight = Sight.GONE;
      }
    }
    return sight;
  }
}
