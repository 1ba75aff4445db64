/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.lease.ClientLeases;

/**
 * The purpose of an allocation.
 *
 * @param storageClass the node's class, asked first
 * @param strict whether no other class may be asked
 * @param host the host to prefer within a class, or {@link HostNames#ANY}
 * @param near the host that is asked next, or {@link HostNames#ANY}
 * @param fileOffset the extent's position in the node
 * @param client the writer, whose unreachable datanodes are asked last; null when there is none
 * @param except a datanode that must not be asked; null for none
 * @param lastResort whether unreachable datanodes are asked at all, and those that are late with
 *     their signs of life
 */
public record Purpose(
    int storageClass,
    boolean strict,
    int host,
    int near,
    long fileOffset,
    ClientLeases client,
    DatanodeSpace except,
    boolean lastResort) {
  /** The choices of hosts: the host itself, the one that is next to it, and any. */
  static final int HOSTS = 3;

  /** Space for a writer, at any datanode. */
  public Purpose(
      int storageClass, boolean strict, int host, int near, long fileOffset, ClientLeases client) {
    this(storageClass, strict, host, near, fileOffset, client, null, true);
  }

  /** The same purpose, for another position. */
  public Purpose at(long newFileOffset) {
    return new Purpose(storageClass, strict, host, near, newFileOffset, client, except, lastResort);
  }

  /** The same purpose, but without this datanode. */
  public Purpose except(DatanodeSpace datanode, boolean asLastResort) {
    return new Purpose(
        storageClass, strict, host, near, fileOffset, client, datanode, asLastResort);
  }

  /** Whether a datanode is on the host of a choice; one that is not made has no datanodes. */
  boolean isOfHost(int choice, DatanodeSpace datanode) {
    int wanted = choice == 0 ? host : near;
    return choice == 2 || wanted != HostNames.ANY && wanted == datanode.host();
  }
}
