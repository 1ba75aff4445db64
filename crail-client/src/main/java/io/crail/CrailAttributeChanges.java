/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * Which attributes of a node are to be set, and to what; null for those that stay.
 *
 * @param owner name of the owner
 * @param group name of the group
 * @param permissions twelve permission bits, as in POSIX
 * @param modificationTime milliseconds since 1970
 * @param accessTime milliseconds since 1970
 */
public record CrailAttributeChanges(
    String owner, String group, Integer permissions, Long modificationTime, Long accessTime) {
  /** Sets the permission bits. */
  public static CrailAttributeChanges ofPermissions(int permissions) {
    return new CrailAttributeChanges(null, null, permissions, null, null);
  }

  /** Sets owner, group or both; null for one that stays. */
  public static CrailAttributeChanges ofOwner(String owner, String group) {
    return new CrailAttributeChanges(owner, group, null, null, null);
  }

  /** Sets times; null for one that stays. */
  public static CrailAttributeChanges ofTimes(Long modificationTime, Long accessTime) {
    return new CrailAttributeChanges(null, null, null, modificationTime, accessTime);
  }
}
