/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import io.crail.common.Addresses;
import io.crail.storage.DatanodeDescription;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * Warns, once for each datanode, that its memory is on this host and cannot be mapped. That costs
 * speed and nothing else. That memory belongs to another user is logged once, since it is as it
 * should be. One instance serves all loops of a store. Thread-safe.
 */
public final class MappingWarnings {
  /** Most datanodes to warn of. */
  static final int MAX_WARNED = 1024;

  private final Logger log;
  private final Set<UUID> warned = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean toldOfOtherUser = new AtomicBoolean();

  /** Has not warned yet. */
  public MappingWarnings(Logger log) {
    this.log = log;
  }

  /** A datanode's memory belongs to another user, or what is at its path here does. */
  void ofOtherUser(DatanodeDescription datanode, String reason) {
    if (!toldOfOtherUser.getAndSet(true)) {
      log.info(
          "the network is used to datanode {} and others like it, since only processes of one user"
              + " share memory: {}",
          Addresses.text(datanode.address()),
          reason);
    }
  }

  /** A datanode's memory cannot be mapped. */
  void notMapped(DatanodeDescription datanode, String reason) {
    if (warned.size() < MAX_WARNED && warned.add(datanode.uuid())) {
      log.warn(
          "the network is used to datanode {}, though its memory is on this host: {} cannot be"
              + " mapped: {}",
          Addresses.text(datanode.address()),
          datanode.traits().directory(),
          reason);
    }
  }
}
