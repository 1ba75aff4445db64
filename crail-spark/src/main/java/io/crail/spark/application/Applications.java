/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.NamenodeAddresses;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.StaleNodeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** What Spark's applications have in a store. It needs no Spark. Thread-safe. */
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
   * @param renewed when a process has renewed its lease last, by the clocks of the namenodes
   * @param shuffle map outputs
   * @param broadcast broadcast values
   * @param roots paths of its roots
   */
  public record Application(
      String id,
      Optional<Instant> began,
      Instant renewed,
      Held shuffle,
      Held broadcast,
      List<String> roots) {
    /** Copies the list. */
    public Application {
      roots = List.copyOf(roots);
    }

    /** Both parts of an application together. */
    Application plus(Application other) {
      List<String> all = new ArrayList<>(roots);
      all.addAll(other.roots);
      return new Application(
          id,
          began,
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
  private final NamenodeAddresses namenodes;

  /**
   * Creates it.
   *
   * @param store stays the caller's
   * @param namenodes their addresses, as the configuration of the store has them
   */
  public Applications(CrailStore store, NamenodeAddresses namenodes) {
    this.store = store;
    this.namenodes = namenodes;
  }

  /** The addresses of the namenodes. */
  NamenodeAddresses namenodes() {
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
        Optional<String> id = Roots.applicationOf(node.getPath());
        if (id.isPresent()) {
          absent
              .ask(node.getPath(), () -> look(node, id.get()))
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
  Application look(String id, List<String> roots) throws Exception {
    Application application =
        new Application(id, Roots.began(id), Instant.EPOCH, Held.NOTHING, Held.NOTHING, List.of());
    for (String root : roots) {
      CrailNode node = store.lookup(root).get();
      if (node != null) {
        application = application.plus(look(node, id));
      }
    }
    return application;
  }

  private static Application look(CrailNode node, String id) throws Exception {
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
        id,
        Roots.began(id),
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
}
