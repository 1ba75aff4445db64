/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * The attributes of a node that are to be set, and their new values. An attribute that is null is
 * left unchanged.
 *
 * @param owner name of the owner
 * @param group name of the group
 * @param permissions twelve permission bits, as in POSIX
 * @param modificationTime milliseconds since 1970
 * @param accessTime milliseconds since 1970
 */
public record CrailAttributeChanges(
    String owner, String group, Integer permissions, Long modificationTime, Long accessTime) {
  /**
   * Sets the permission bits.
   *
   * @param permissions twelve permission bits, as in POSIX
   * @return the change
   */
  public static CrailAttributeChanges ofPermissions(int permissions) {
    return new CrailAttributeChanges(null, null, permissions, null, null);
  }

  /**
   * Sets owner, group or both. A name that is null is left unchanged.
   *
   * @param owner name of the owner
   * @param group name of the group
   * @return the change
   */
  public static CrailAttributeChanges ofOwner(String owner, String group) {
    return new CrailAttributeChanges(owner, group, null, null, null);
  }

  /**
   * Sets one or both times. A time that is null is left unchanged.
   *
   * @param modificationTime milliseconds since 1970
   * @param accessTime milliseconds since 1970
   * @return the change
   */
  public static CrailAttributeChanges ofTimes(Long modificationTime, Long accessTime) {
    return new CrailAttributeChanges(null, null, null, modificationTime, accessTime);
  }
}
