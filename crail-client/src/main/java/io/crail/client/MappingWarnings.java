/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.common.Addresses;
import io.crail.storage.DatanodeDescription;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * Tells, once for each datanode, that its memory is on this host and can not be mapped, which costs
 * speed and nothing else. One for all loops of a store. Thread-safe.
 */
final class MappingWarnings {
  /** So many datanodes are told of; who has not looked by then will not. */
  static final int MAX_TOLD = 1024;

  private final Logger log;
  private final Set<UUID> told = ConcurrentHashMap.newKeySet();

  MappingWarnings(Logger log) {
    this.log = log;
  }

  /** A datanode's memory cannot be mapped. */
  void notMapped(DatanodeDescription datanode, String reason) {
    if (told.size() < MAX_TOLD && told.add(datanode.uuid())) {
      log.warn(
          "the network is used to datanode {}, though its memory is on this host: {} cannot be"
              + " mapped: {}",
          Addresses.text(datanode.address()),
          datanode.traits().directory(),
          reason);
    }
  }
}
