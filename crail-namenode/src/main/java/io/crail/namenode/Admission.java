/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.TierTraits;
import java.util.regex.Pattern;

/**
 * What a request must be before anything is done: sent by who may send it, and with texts that can
 * stand in a log, a list or a command. Against mistakes and broken programs; whoever lies about his
 * role is let in. Stateless.
 */
final class Admission {
  private static final Pattern TIER = Pattern.compile("[a-z0-9-]+");
  // Names, and addresses of both kinds, with the interface after those that need one.
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:-]+(%[A-Za-z0-9._-]+)?");

  private Admission() {}

  /** Admits what only datanodes send. */
  static void requireDatanode(ClientSession session) throws CrailException {
    if (session.role() != Hello.ROLE_DATANODE) {
      throw ErrorCode.INVALID_ARGUMENT.exception("only a datanode may ask for this");
    }
  }

  /** Admits the texts and traits of a registration. */
  static void check(RegisterDatanode.Request request) throws CrailException {
    check("tier", request.tier(), TIER.matcher(request.tier().toString()).matches());
    check("host", request.host(), HOST.matcher(request.host().toString()).matches());
    TierTraits traits = request.traits();
    String directory = traits.directory().toString();
    check(
        "directory",
        traits.directory(),
        directory.isEmpty() || (directory.startsWith("/") && Printable.isPrintable(directory)));
    check("details", traits.details(), Printable.isPrintable(traits.details().toString()));
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
