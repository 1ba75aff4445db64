/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The spread directories that this namenode owns, and its shares of those that others own. There
 * are few of them, so what is asked seldom is answered by looking at all. Thread-safe; the {@link
 * TreeWriter} changes it.
 */
public final class SpreadDirectories {
  private final ConcurrentSkipListMap<Long, Container> owned =
      new ConcurrentSkipListMap<>(Long::compareUnsigned);
  private final ConcurrentSkipListMap<Long, Share> shares =
      new ConcurrentSkipListMap<>(Long::compareUnsigned);
  private final AtomicInteger sealed = new AtomicInteger();

  SpreadDirectories() {}

  /** Those that this namenode owns, by id, in the order of unsigned numbers. */
  public NavigableMap<Long, Container> owned() {
    return Collections.unmodifiableNavigableMap(owned);
  }

  /** The shares of those that others own, likewise. */
  public NavigableMap<Long, Share> shares() {
    return Collections.unmodifiableNavigableMap(shares);
  }

  /** The owned ones at a container or below it; of one moment while nothing is renamed. */
  public List<Container> in(Node container) {
    List<Container> found = new ArrayList<>();
    for (Container each : owned.values()) {
      for (Node at = each; at != null; at = at.parent()) {
        if (at == container) {
          found.add(each);
        }
      }
    }
    return found;
  }

  /** True while any is sealed. */
  boolean isAnySealed() {
    return sealed.get() > 0;
  }

  /** Compares with what is in the tree; for tests. */
  void verify(long ownedInTree, long sealedInTree) {
    if (owned.size() != ownedInTree || sealed.get() != sealedInTree) {
      throw new AssertionError(
          ownedInTree
              + " spread directories, "
              + sealedInTree
              + " sealed, counted as "
              + owned.size()
              + " and "
              + sealed);
    }
  }

  void add(Container directory) {
    if (directory instanceof Share share) {
      shares.put(share.id(), share);
    } else {
      owned.put(directory.id(), directory);
    }
  }

  void remove(Container directory) {
    if (directory instanceof Share
        ? shares.remove(directory.id()) != null
        : owned.remove(directory.id()) != null) {
      seal(directory, false);
    }
  }

  void seal(Container directory, boolean isSealed) {
    if (directory.isSealed() != isSealed) {
      directory.seal(isSealed);
      sealed.addAndGet(isSealed ? 1 : -1);
    }
  }
}
