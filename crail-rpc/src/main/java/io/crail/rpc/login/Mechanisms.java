/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The mechanisms that a server takes.
 *
 * @param all each with a number of its own
 */
public record Mechanisms(List<Mechanism> all) {
  /** Believes every claim. */
  public static final Mechanisms ANYBODY = new Mechanisms(List.of(Anybody.MECHANISM));

  /** Checks the numbers. */
  public Mechanisms {
    all = List.copyOf(all);
    if (all.stream().mapToInt(Mechanism::number).distinct().count() != all.size()) {
      throw new IllegalArgumentException("two mechanisms with one number");
    }
  }

  /**
   * The mechanism of a number.
   *
   * @throws CrailException with {@link ErrorCode#UNSUPPORTED} when this server does not take it;
   *     with {@link ErrorCode#UNAUTHENTICATED} for a login without a proof
   */
  Mechanism get(int number) throws CrailException {
    for (Mechanism each : all) {
      if (each.number() == number) {
        return each;
      }
    }
    if (number == Anybody.MECHANISM.number()) {
      throw ErrorCode.UNAUTHENTICATED.exception(
          "this server requires a key; neither crail.secret.file nor CRAIL_SECRET_FILE of the client"
              + " names one");
    }
    throw ErrorCode.UNSUPPORTED.exception(
        "login by mechanism "
            + number
            + "; this server takes "
            + all.stream()
                .map(each -> each.number() + " (" + each.name() + ")")
                .collect(Collectors.joining(", ")));
  }
}
