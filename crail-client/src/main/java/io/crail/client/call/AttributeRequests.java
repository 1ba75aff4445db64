/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailAttributeChanges;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.TextLimits;

/** Attributes as they travel, checked. */
public final class AttributeRequests {
  private AttributeRequests() {}

  /**
   * The request that changes attributes.
   *
   * @throws CrailException with INVALID_ARGUMENT for attributes that no node can have
   */
  public static SetAttributes.Request of(Utf8 path, CrailAttributeChanges changes)
      throws CrailException {
    int which =
        (changes.permissions() == null ? 0 : SetAttributes.PERMISSIONS)
            | (changes.owner() == null ? 0 : SetAttributes.OWNER)
            | (changes.group() == null ? 0 : SetAttributes.GROUP)
            | (changes.modificationTime() == null ? 0 : SetAttributes.MODIFIED)
            | (changes.accessTime() == null ? 0 : SetAttributes.ACCESSED);
    return new SetAttributes.Request(
        which,
        changes.permissions() == null ? 0 : permissions(changes.permissions()),
        changes.modificationTime() == null ? 0 : changes.modificationTime(),
        changes.accessTime() == null ? 0 : changes.accessTime(),
        path,
        userName(changes.owner()),
        userName(changes.group()));
  }

  /**
   * Permission bits.
   *
   * @throws CrailException with INVALID_ARGUMENT when other bits are among them
   */
  public static int permissions(int permissions) throws CrailException {
    if ((permissions & ~NodeInfo.PERMISSIONS) != 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "permission bits 0" + Integer.toOctalString(permissions));
    }
    return permissions;
  }

  private static Utf8 userName(String name) throws CrailException {
    if (name == null) {
      return Utf8.EMPTY;
    }
    String wrong = TextLimits.checkUser(Utf8.of(name));
    if (wrong != null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "name of a user or group '" + name + "': " + wrong);
    }
    return Utf8.of(name);
  }
}
