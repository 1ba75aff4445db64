/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import java.io.IOException;
import java.util.UUID;

/**
 * What a datanode knows of the bytes that it keeps for the next process, which takes its place.
 * Thread-safe.
 */
public interface LastingBytes {
  /**
   * Who keeps bytes.
   *
   * @param cluster the name of the cluster
   * @param tier the name of the tier
   * @param port the port that is configured; 0 for any
   */
  record Owner(String cluster, String tier, int port) {}

  /**
   * The namenode that a region was lent to.
   *
   * @param datanode the id that the namenode had given the datanode
   * @param lineage the lineage of the namenode, which it keeps as long as it has its log
   * @param generation the namenode's generations begin above this; 0 when no namenode had the
   *     region before
   */
  record Lending(int datanode, long lineage, long generation) {}

  /** The identity of the bytes, which stays the same. */
  UUID keeper();

  /** How many processes have had them, this one included. */
  long start();

  /** The last lending of a region; null while it was never lent. */
  Lending lending(int region);

  /**
   * Notes a lending, so that the next process knows it whatever happens after this call.
   *
   * @throws IOException when it cannot be noted; then the region must not be lent
   */
  void lend(int region, Lending lending) throws IOException;

  /** No process is to have the bytes after this one: they are removed at its end. */
  void discard();
}
