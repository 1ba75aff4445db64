/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.ParentNotFoundException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.Lifetime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Where the map outputs of an application lie: below its roots, in a directory for each shuffle.
 * Thread-safe.
 *
 * @param store the store
 * @param roots paths of the application's roots; several, where they spread over namenodes
 * @param storageClass the class that is asked first
 * @param locationClass the host that is asked first
 * @param lease how long each root lives when it is not renewed
 * @param counts counts what is written and fetched
 * @param turns who writes when
 */
public record OutputPlace(
    CrailStore store,
    List<String> roots,
    CrailStorageClass storageClass,
    CrailLocationClass locationClass,
    Duration lease,
    OutputStatistics counts,
    WriterTurns turns) {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Copies the list. */
  public OutputPlace {
    roots = List.copyOf(roots);
  }

  /**
   * A place with counts of its own, and without a bound for its writers.
   *
   * @param store the store
   * @param roots paths of the application's roots
   * @param storageClass the class that is asked first
   * @param locationClass the host that is asked first
   * @param lease how long each root lives when it is not renewed
   */
  public OutputPlace(
      CrailStore store,
      List<String> roots,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      Duration lease) {
    this(
        store,
        roots,
        storageClass,
        locationClass,
        lease,
        new OutputStatistics(),
        new WriterTurns(Integer.MAX_VALUE, PATIENCE));
  }

  /** {@return the path of a sealed output} */
  public String path(OutputId id) {
    String root = roots.get((int) Long.remainderUnsigned(id.map(), roots.size()));
    return directory(root, id.shuffle()) + '/' + id.map();
  }

  private static String directory(String root, int shuffle) {
    return root + "/shuffle-" + shuffle;
  }

  /**
   * Creates a file in a directory that exists, as the driver makes them.
   *
   * @throws IOException a {@code ParentNotFoundException} without the directory, for example when
   *     the shuffle was removed
   */
  public CrailFile createOutput(String path) throws IOException {
    try {
      return createNode(path, CrailNodeType.DATAFILE).asFile();
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** Creates a file, and its directories if they are missing. For the driver alone. */
  public CrailFile create(String path) throws IOException {
    try {
      return createOutput(path);
    } catch (ParentNotFoundException e) {
      String directory = path.substring(0, path.lastIndexOf('/'));
      createRoots(List.of(directory.substring(0, directory.lastIndexOf('/'))));
      createDirectories(List.of(directory));
    }
    return createOutput(path);
  }

  /** Creates the roots, which may exist. For the driver alone. */
  public void createRoots() throws IOException {
    createRoots(roots);
  }

  private void createRoots(List<String> paths) throws IOException {
    createDirectories(paths);
    renew(paths, PATIENCE);
  }

  /**
   * Renews the lease of the roots, at every namenode that answers. A root that is missing needs
   * none: the driver makes it again when it is needed.
   *
   * @param most how long all namenodes together are waited for
   * @return the roots that are there
   * @throws IOException the error of the first root whose lease could not be renewed
   */
  public List<String> renewRoots(Duration most) throws IOException {
    return renew(roots, most);
  }

  /**
   * Sets the lifetime each time, in case whoever made a root has died before. A namenode that hangs
   * must not keep the roots of the others waiting until their lease is over.
   */
  private List<String> renew(List<String> paths, Duration most) throws IOException {
    CompoundOperation expire =
        CompoundOperation.builder().expire(Lifetime.sinceAccess(lease)).build();
    Map<String, Upcoming<CompoundResult>> renewals = new LinkedHashMap<>();
    List<String> present = new ArrayList<>();
    Exception failure = null;
    for (String path : paths) {
      try {
        renewals.put(path, store.operate(path, expire));
      } catch (Exception e) {
        failure = e;
      }
    }
    long untilNanos = System.nanoTime() + most.toNanos();
    for (Map.Entry<String, Upcoming<CompoundResult>> each : renewals.entrySet()) {
      try {
        long left = Math.max(0, untilNanos - System.nanoTime());
        each.getValue().get(left, TimeUnit.NANOSECONDS).orThrow();
        present.add(each.getKey());
      } catch (TimeoutException e) {
        failure = new IOException(each.getKey() + ": its namenode has not answered in time", e);
      } catch (ExecutionException | CrailException e) {
        boolean isMissing = StoreFailure.of(e) instanceof NodeNotFoundException;
        failure = failure == null && !isMissing ? e : failure;
      } catch (Exception e) {
        throw StoreFailure.of(e);
      }
    }
    if (failure != null) {
      throw StoreFailure.of(failure);
    }
    return present;
  }

  /** Creates the directories of a shuffle, which may exist. For the driver alone. */
  public void createShuffle(int shuffle) throws IOException {
    createDirectories(directories(shuffle));
  }

  private List<String> directories(int shuffle) {
    return roots.stream().map(root -> directory(root, shuffle)).toList();
  }

  private void createDirectories(List<String> paths) throws IOException {
    try {
      List<Future<CrailNode>> created = new ArrayList<>();
      for (String path : paths) {
        created.add(store.create(path, CrailNodeType.DIRECTORY, storageClass, locationClass, true));
      }
      for (Future<CrailNode> each : created) {
        awaitDirectory(each);
      }
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  private static void awaitDirectory(Future<CrailNode> created) throws Exception {
    try {
      created.get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeExistsException)) {
        throw e;
      }
    }
  }

  /** {@return the paths of all files of a shuffle, also of those that are not sealed} */
  public List<String> list(int shuffle) throws IOException {
    List<String> paths = new ArrayList<>();
    try {
      for (String directory : directories(shuffle)) {
        CrailNode node = store.lookup(directory).get();
        if (node != null) {
          node.asContainer().listEntries().forEachRemaining(paths::add);
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
    return paths;
  }

  private CrailNode createNode(String path, CrailNodeType type) throws IOException {
    try {
      return store.create(path, type, storageClass, locationClass, true).get();
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** Deletes the outputs of a shuffle at all roots, also where it fails at some of them. */
  public void removeShuffle(int shuffle) throws IOException {
    ParallelDelete.of(store, directories(shuffle));
  }

  /** Deletes all roots, also where it fails at some of them. */
  public void removeRoots() throws IOException {
    ParallelDelete.of(store, roots);
  }

  /**
   * Deletes a subtree that may be missing.
   *
   * @return false when it is missing
   */
  public boolean remove(String path) throws IOException {
    return ParallelDelete.of(store, List.of(path)) > 0;
  }
}
