/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.ParentNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Where the map outputs of an application lie: below its roots, in a directory for each shuffle.
 * Thread-safe.
 *
 * @param store the store
 * @param roots paths of the application's roots; several, where they spread over namenodes
 * @param storageClass the class that is asked first
 * @param locationClass the host that is asked first
 */
public record OutputPlace(
    CrailStore store,
    List<String> roots,
    CrailStorageClass storageClass,
    CrailLocationClass locationClass) {
  /** Copies the list. */
  public OutputPlace {
    roots = List.copyOf(roots);
  }

  /** {@return the path of a sealed output} */
  public String path(OutputId id) {
    String root = roots.get((int) Long.remainderUnsigned(id.map(), roots.size()));
    return directory(root, id.shuffle()) + '/' + id.map();
  }

  private static String directory(String root, int shuffle) {
    return root + "/shuffle-" + shuffle;
  }

  /** Creates a file, and its directories if they are missing. */
  public CrailFile create(String path) throws IOException {
    try {
      return createNode(path, CrailNodeType.DATAFILE).asFile();
    } catch (ParentNotFoundException e) {
      String directory = path.substring(0, path.lastIndexOf('/'));
      createDirectory(directory.substring(0, directory.lastIndexOf('/')));
      createDirectory(directory);
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
    try {
      return createNode(path, CrailNodeType.DATAFILE).asFile();
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** Creates a directory that may exist. */
  public void createDirectory(String path) throws IOException {
    try {
      createNode(path, CrailNodeType.DIRECTORY);
    } catch (NodeExistsException e) {
      // Another task was first.
    }
  }

  private CrailNode createNode(String path, CrailNodeType type) throws IOException {
    try {
      return store.create(path, type, storageClass, locationClass, true).get();
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** Deletes the outputs of a shuffle at all roots. */
  public void removeShuffle(int shuffle) throws IOException {
    for (String root : roots) {
      remove(directory(root, shuffle));
    }
  }

  /**
   * Deletes a subtree that may be missing.
   *
   * @return false when it is missing
   */
  public boolean remove(String path) throws IOException {
    try {
      store.delete(path, true).get();
      return true;
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeNotFoundException
          || e.getCause() instanceof ParentNotFoundException)) {
        throw StoreFailure.of(e);
      }
      return false;
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }
}
