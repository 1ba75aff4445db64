/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Some namenodes did not answer, so that their part is missing from what the others told. A caller
 * who can do with that part goes on with it.
 */
public final class IncompleteException extends UnavailableException {
  private static final long serialVersionUID = 1L;

  private final transient List<MissingNamenode> missing;

  /**
   * Creates one.
   *
   * @param what of which a part is missing
   * @param missing at least one
   */
  public IncompleteException(String what, List<MissingNamenode> missing) {
    super(ErrorCode.UNAVAILABLE, text(what, missing));
    this.missing =
        missing.stream().sorted(Comparator.comparingInt(MissingNamenode::index)).toList();
    missing.forEach(each -> addSuppressed(each.cause()));
  }

  /** Whose part is missing, by ascending index. */
  public List<MissingNamenode> missing() {
    return missing;
  }

  private static String text(String what, List<MissingNamenode> missing) {
    return missing.stream()
        .map(MissingNamenode::toString)
        .collect(Collectors.joining(", ", what + " lacks the part of ", ""));
  }
}
