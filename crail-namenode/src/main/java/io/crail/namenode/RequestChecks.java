/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.TierTraits;
import java.util.regex.Pattern;

/** Checks requests before they are served: texts must be safe in a log, a list or a command. */
final class RequestChecks {
  private static final Pattern TIER = Pattern.compile("[a-z0-9-]+");
  // Host names, IPv4 addresses, and IPv6 addresses with an optional interface.
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:-]+(%[A-Za-z0-9._-]+)?");

  private static final int MAX_DRAIN_MILLIS = 3_600_000;

  private RequestChecks() {}

  /** Checks the texts and traits of a registration. */
  static void check(RegisterDatanode.Description request) throws CrailException {
    check("tier", request.tier(), TIER.matcher(request.tier().toString()).matches());
    check("host", request.host(), HOST.matcher(request.host().toString()).matches());
    TierTraits traits = request.traits();
    String directory = traits.directory().toString();
    check(
        "directory",
        traits.directory(),
        directory.isEmpty() || (directory.startsWith("/") && Printable.isPrintable(directory)));
    check("details", traits.details(), Printable.isPrintable(traits.details().toString()));
    if (traits.drainMillis() < 0 || traits.drainMillis() > MAX_DRAIN_MILLIS) {
      throw ErrorCode.INVALID_ARGUMENT.exception("drain of " + traits.drainMillis() + " ms");
    }
    int granularity = traits.granularity();
    if (Integer.bitCount(granularity) != 1 || granularity < 1 || granularity > Extent.MIN_LENGTH) {
      throw ErrorCode.INVALID_ARGUMENT.exception("granularity " + granularity);
    }
  }

  private static void check(String what, Utf8 text, boolean good) throws CrailException {
    if (!good) {
      throw ErrorCode.INVALID_ARGUMENT.exception(what + " '" + text + "'");
    }
  }
}
