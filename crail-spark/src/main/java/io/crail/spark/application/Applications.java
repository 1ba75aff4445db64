/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.StaleNodeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;

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

    private Application plus(Application other) {
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

  private final CrailStore store;

  /** Creates it. The store stays the caller's. */
  public Applications(CrailStore store) {
    this.store = store;
  }

  /**
   * Looks at all applications and all their files.
   *
   * @throws Exception when no namenode answers
   */
  public Report list() throws Exception {
    Map<String, Application> found = new TreeMap<>();
    List<MissingNamenode> missing = new ArrayList<>();
    try {
      Iterator<CrailNode> children = store.lookup("/").get().asContainer().listStatus();
      while (children.hasNext()) {
        CrailNode node = children.next();
        Optional<Roots.Root> root = Roots.parse(node.getPath());
        if (root.isPresent()) {
          Application part = look(node, root.get());
          found.merge(part.id, part, Application::plus);
        }
      }
    } catch (UncheckedIOException e) {
      if (!(e.getCause() instanceof IncompleteException incomplete)) {
        throw e.getCause();
      }
      missing.addAll(incomplete.missing());
    }
    return new Report(List.copyOf(found.values()), missing);
  }

  /** Looks at one application, of which perhaps not all roots are there. */
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
        Held held = Held.NOTHING;
        for (CrailNode file : children(directory)) {
          held = held.plus(new Held(1, file.getCapacity()));
        }
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

  /** The children; none when the application deletes them meanwhile. */
  private static List<CrailNode> children(CrailNode directory) throws Exception {
    List<CrailNode> children = new ArrayList<>();
    try {
      directory.asContainer().listStatus().forEachRemaining(children::add);
    } catch (StaleNodeException | NodeNotFoundException e) {
      return List.of();
    } catch (UncheckedIOException e) {
      if (e.getCause() instanceof StaleNodeException
          || e.getCause() instanceof NodeNotFoundException) {
        return List.of();
      }
      throw e;
    }
    return children;
  }

  /** Ends an application at once, whether it lives or not. */
  public void end(Application application) throws Exception {
    for (String root : application.roots) {
      try {
        store.delete(root, true).get();
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof NodeNotFoundException)) {
          throw (e.getCause() instanceof IOException io) ? io : e;
        }
      }
    }
  }

  /**
   * Ends applications whose lease has ended. Clocks need not agree: it watches each for as long as
   * its lease, until nobody can have renewed it, or somebody has.
   *
   * @param suspects applications as they were seen before
   * @return those of them that have ended
   * @throws InterruptedException when the thread is interrupted
   */
  public List<Application> endUnlessRenewed(List<Application> suspects) throws Exception {
    RootCleaner cleaner = new RootCleaner(store, System::nanoTime);
    List<Application> open = new ArrayList<>(suspects);
    List<Application> ended = new ArrayList<>();
    while (true) {
      Set<String> roots = new HashSet<>();
      open.forEach(each -> roots.addAll(each.roots));
      cleaner.clean(roots::contains);
      for (Application each : List.copyOf(open)) {
        Optional<Instant> renewed = renewed(each);
        if (renewed.isEmpty()) {
          ended.add(each);
        }
        if (renewed.isEmpty() || !renewed.get().equals(each.renewed)) {
          open.remove(each);
        }
      }
      if (open.isEmpty()) {
        return ended;
      }
      Duration shortest = open.stream().map(Application::lease).min(Duration::compareTo).get();
      Thread.sleep(shortest.dividedBy(RootCleaner.LOOKS).toMillis());
    }
  }

  /** The last renewal; empty when the application is gone. */
  private Optional<Instant> renewed(Application application) throws Exception {
    Optional<Instant> last = Optional.empty();
    for (String root : application.roots) {
      CrailNode node = store.lookup(root).get();
      if (node != null) {
        Instant time = Instant.ofEpochMilli(node.getAttributes().accessTime());
        last = last.isPresent() && last.get().isAfter(time) ? last : Optional.of(time);
      }
    }
    return last;
  }
}
