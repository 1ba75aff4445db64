/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * Attributes that Crail keeps and shows for other programs. Crail enforces none of them.
 *
 * @param owner name of the owner: the user who created the node, until it is set
 * @param group name of the group: the group of the container in which the node was created, until
 *     it is set
 * @param permissions twelve permission bits, as in POSIX
 * @param modificationTime the last change of bytes or children, or the time that was set since;
 *     milliseconds since 1970
 * @param accessTime the creation of the node, or the time that was set since; milliseconds since
 *     1970
 */
public record CrailAttributes(
    String owner, String group, int permissions, long modificationTime, long accessTime) {
  /** The permission bits of a file or key-value that is created without any. */
  public static final int FILE_PERMISSIONS = 0644;

  /** The permission bits of a container that is created without any. */
  public static final int CONTAINER_PERMISSIONS = 0755;
}
