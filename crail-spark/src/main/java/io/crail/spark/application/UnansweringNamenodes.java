/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.common.NamenodeAddresses;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.part.NodePath;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;

/**
 * The namenodes that have not answered during a look at many roots. None of them is asked again, so
 * each costs one deadline. Used by one thread.
 */
final class UnansweringNamenodes {
  private final NamenodeAddresses namenodes;
  private final Map<Integer, MissingNamenode> missing = new TreeMap<>();

  UnansweringNamenodes(NamenodeAddresses namenodes) {
    this.namenodes = namenodes;
  }

  /** The index of the namenode that has a root. */
  static int namenodeOf(String root, int namenodes) {
    return NodePath.namenodeOf(Utf8.of(root), namenodes);
  }

  /** Names a namenode. */
  static MissingNamenode missing(NamenodeAddresses namenodes, int index, CrailException why) {
    return new MissingNamenode(index, namenodes.text(index), why);
  }

  /**
   * Asks the namenode of a root something.
   *
   * @return its answer; empty for null, and when it has not answered, now or before
   * @throws Exception another error of the question
   */
  <T> Optional<T> ask(String root, Callable<T> question) throws Exception {
    int index = namenodeOf(root, namenodes.size());
    if (missing.containsKey(index)) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(question.call());
    } catch (Exception e) {
      CrailException why = down(e).orElseThrow(() -> e);
      missing.put(index, missing(namenodes, index, why));
      return Optional.empty();
    }
  }

  /** The error within another one, if it means that a namenode is down. */
  static Optional<CrailException> down(Exception e) {
    boolean isAround = e instanceof ExecutionException || e instanceof UncheckedIOException;
    return (isAround ? e.getCause() : e) instanceof CrailException why
            && MissingNamenode.isDown(why.code())
        ? Optional.of(why)
        : Optional.empty();
  }

  /** Adds some that others have found. */
  void addAll(List<MissingNamenode> others) {
    others.forEach(each -> missing.putIfAbsent(each.index(), each));
  }

  /** All of them, by ascending index. */
  List<MissingNamenode> missing() {
    return List.copyOf(missing.values());
  }
}
