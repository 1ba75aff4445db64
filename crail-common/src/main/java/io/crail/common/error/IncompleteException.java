/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Some namenodes did not answer, so their part of the result is missing. A caller may continue with
 * the part that came.
 */
public final class IncompleteException extends UnavailableException {
  private static final long serialVersionUID = 1L;

  private final transient List<MissingNamenode> missing;

  /**
   * Creates an exception.
   *
   * @param what the result that lacks a part
   * @param missing the namenodes that did not answer, at least one
   */
  public IncompleteException(String what, List<MissingNamenode> missing) {
    super(ErrorCode.UNAVAILABLE, text(what, missing));
    this.missing =
        missing.stream().sorted(Comparator.comparingInt(MissingNamenode::index)).toList();
    missing.forEach(each -> addSuppressed(each.cause()));
  }

  /** {@return the namenodes whose part is missing, by ascending index} */
  public List<MissingNamenode> missing() {
    return missing;
  }

  private static String text(String what, List<MissingNamenode> missing) {
    return missing.stream()
        .map(MissingNamenode::toString)
        .collect(Collectors.joining(", ", what + " lacks the part of ", ""));
  }
}
