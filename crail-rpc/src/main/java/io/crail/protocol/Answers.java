/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.MissingNamenode;
import java.util.ArrayList;
import java.util.List;

/**
 * The answers of all namenodes to one request. All namenodes are asked at the same time. So the
 * namenodes that are down cost the deadline of one call together, not one deadline each. Used by
 * one thread.
 *
 * @param <R> an answer
 */
public final class Answers<R> {
  private final List<R> answers = new ArrayList<>();
  private final List<MissingNamenode> missing = new ArrayList<>();

  private Answers() {}

  /**
   * Asks, and waits for all answers.
   *
   * @throws CrailException when no namenode answers, or one refuses
   */
  public static <Q, R> Answers<R> of(NameNodeClient namenodes, Operation<Q, R> operation, Q request)
      throws CrailException, InterruptedException {
    List<OperationCall<Q, R>> calls = new ArrayList<>();
    for (int i = 0; i < namenodes.count(); i++) {
      calls.add(namenodes.callAt(i, operation, request));
    }
    Answers<R> all = new Answers<>();
    for (int i = 0; i < calls.size(); i++) {
      try {
        all.answers.add(calls.get(i).join());
      } catch (CrailException e) {
        all.answers.add(null);
        all.missing.add(missing(namenodes, i, e));
      }
    }
    if (all.missing.size() == calls.size()) {
      throw all.missing.get(0).cause();
    }
    return all;
  }

  /**
   * Namenode {@code index}, which has failed.
   *
   * @throws CrailException the failure itself, unless the namenode is down
   */
  public static MissingNamenode missing(NameNodeClient namenodes, int index, CrailException failure)
      throws CrailException {
    if (!MissingNamenode.isDown(failure.code())) {
      throw failure;
    }
    return new MissingNamenode(index, Addresses.text(namenodes.peer(index).address()), failure);
  }

  /** The answer of namenode {@code index}; null when it is missing. */
  public R at(int index) {
    return answers.get(index);
  }

  /** The answers that arrived; at least one. */
  public List<R> present() {
    return answers.stream().filter(answer -> answer != null).toList();
  }

  /** The namenodes that are down. */
  public List<MissingNamenode> missing() {
    return missing;
  }

  /** Returns all answers. Throws an {@link IncompleteException} when one is missing. */
  public List<R> complete(String what) throws IncompleteException {
    if (!missing.isEmpty()) {
      throw new IncompleteException(what, missing);
    }
    return present();
  }
}
