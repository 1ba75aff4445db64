/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Digests;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a datanode announces to clients about its targets, as the details of its description: what
 * headers and data have, {@code -}, {@code h}, {@code d} or {@code hd}, and the targets, all
 * separated by spaces, with the numbers of their namespaces as the user gave them. So two datanodes
 * that lend the same have the same details. A region's key is the number of its target in this
 * list, shifted left by 32 bits, and the number of its namespace; its address is its first byte in
 * the namespace.
 *
 * @param digests which checksums connections over TCP have
 * @param targets the targets
 */
record LentTargets(Digests digests, List<TargetAddress> targets) {
  private static final int SHIFT = 32;

  /** Reads the details of a description. */
  static LentTargets parse(String details) throws CrailException {
    int space = details.indexOf(' ');
    String flags = details.substring(0, Math.max(0, space));
    if (!flags.matches("-|h|d|hd")) {
      throw ErrorCode.PROTOCOL.exception("details of a datanode of tier nvmf: " + details);
    }
    try {
      return new LentTargets(
          new Digests(flags.contains("h"), flags.contains("d")),
          TargetAddress.parseAll(details.substring(space + 1)));
    } catch (ConfigException e) {
      throw ErrorCode.PROTOCOL.exception(e.getMessage());
    }
  }

  String details() {
    String flags = (digests.header() ? "h" : "") + (digests.data() ? "d" : "");
    return (flags.isEmpty() ? "-" : flags)
        + targets.stream().map(TargetAddress::toString).collect(Collectors.joining(" ", " ", ""));
  }

  static long key(int target, int namespace) {
    // The numbers of namespaces have no sign.
    return (long) target << SHIFT | Integer.toUnsignedLong(namespace);
  }

  static int target(long key) {
    return (int) (key >>> SHIFT);
  }

  static int namespace(long key) {
    return (int) key;
  }
}
