/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailContainer;
import io.crail.CrailNode;
import io.crail.CrailStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** What caches have in a cluster. Needs no class of Hadoop. */
public final class CacheContents {
  /** Space of a datanode comes in pieces from here on, each twice as large as the one before. */
  private static final long LEAST_PIECE = 4096;

  /** The largest piece, unless the cluster has larger blocks. */
  private static final long LARGEST_PIECE = 1 << 20;

  private CacheContents() {}

  /**
   * What is cached of a source.
   *
   * @param name the name in {@code crailcache://NAME}, or one that is made of its URI
   * @param files files whose status is cached, or was and is too old
   * @param blocks blocks, of these and of former files
   * @param bytes the space that the blocks take, as the budget counts it
   */
  public record Source(String name, long files, long blocks, long bytes) {}

  /** What a block takes at most, wherever its bytes are. */
  static long takenBytes(long length) {
    if (length > LARGEST_PIECE) {
      return (length + LARGEST_PIECE - 1) / LARGEST_PIECE * LARGEST_PIECE;
    }
    long above = Long.highestOneBit(Math.max(length - 1, 1)) << 1;
    return Math.max(LEAST_PIECE, above);
  }

  /**
   * Lists all sources, the largest first.
   *
   * @param store the cluster
   * @param root the directory of all caches, {@code crail.cache.root}
   * @return the sources
   * @throws Exception an error of the store
   */
  public static List<Source> list(CrailStore store, String root) throws Exception {
    List<Source> sources = new ArrayList<>();
    CrailContainer caches = container(store, root);
    if (caches != null) {
      for (Iterator<String> paths = caches.listEntries(); paths.hasNext(); ) {
        sources.add(source(store, paths.next()));
      }
    }
    sources.sort(Comparator.comparingLong(Source::bytes).reversed());
    return sources;
  }

  private static Source source(CrailStore store, String path) throws Exception {
    CrailContainer statuses = container(store, path + "/status");
    CrailContainer blocks = container(store, path + "/blocks");
    long count = 0;
    long bytes = 0;
    if (blocks != null) {
      for (Iterator<CrailNode> each = blocks.listStatus(); each.hasNext(); count++) {
        bytes += takenBytes(each.next().getCapacity());
      }
    }
    String name = path.substring(path.lastIndexOf('/') + 1);
    return new Source(name, statuses == null ? 0 : statuses.files(), count, bytes);
  }

  /** A directory or table; null for none. */
  private static CrailContainer container(CrailStore store, String path) throws Exception {
    CrailNode node = get(store, path);
    return node == null || !node.getType().isContainer() ? null : node.asContainer();
  }

  private static CrailNode get(CrailStore store, String path) throws Exception {
    try {
      return store.lookup(path).get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /**
   * Removes all that is cached of a source. Readers load it again.
   *
   * @param store the cluster
   * @param root the directory of all caches
   * @param name the name of the source
   * @return whether there was such a source
   * @throws Exception an error of the store
   */
  public static boolean drop(CrailStore store, String root, String name) throws Exception {
    String path = root + "/" + name;
    if (get(store, path) == null) {
      return false;
    }
    try {
      store.delete(path, true).get();
      return true;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}
