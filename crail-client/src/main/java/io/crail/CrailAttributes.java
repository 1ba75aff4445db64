/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * What is known of a node for others than Crail, which keeps and shows it and enforces nothing.
 *
 * @param owner name of the owner: who created the node, until somebody sets it
 * @param group name of the group: that of the container in which it was created
 * @param permissions twelve permission bits, as in POSIX
 * @param modificationTime when bytes or children changed last, or what was set since; milliseconds
 *     since 1970
 * @param accessTime when the node was created, or what was set since; milliseconds since 1970
 */
public record CrailAttributes(
    String owner, String group, int permissions, long modificationTime, long accessTime) {
  /** The permission bits of a node with bytes that is created without any. */
  public static final int FILE_PERMISSIONS = 0644;

  /** The permission bits of a container that is created without any. */
  public static final int CONTAINER_PERMISSIONS = 0755;
}
