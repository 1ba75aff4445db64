/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.protocol.Extent;
import io.crail.storage.StorageEndpoint;

/** An extent, until when its location may be used, and the way to it. */
final class Located {
  private final Extent extent;
  private final long validUntilNanos;

  /** Found once and kept; two threads that race find the same. */
  private volatile Endpoints.Known datanode;

  Located(Extent extent, long validUntilNanos) {
    this.extent = extent;
    this.validUntilNanos = validUntilNanos;
  }

  Extent extent() {
    return extent;
  }

  long validUntilNanos() {
    return validUntilNanos;
  }

  boolean isValid(long nowNanos) {
    return validUntilNanos - nowNanos > 0;
  }

  /** The endpoint of the extent's datanode, or null when it has not been made yet. */
  StorageEndpoint endpoint(Endpoints endpoints) {
    Endpoints.Known known = datanode;
    if (known == null) {
      known = endpoints.find(extent.datanode());
      datanode = known;
    }
    return known == null ? null : known.endpoint();
  }

  /**
   * Whether the datanode, whose endpoint has been found, refuses to read what has become another
   * node's. Else what was read is good only while this is valid.
   */
  boolean isChecked() {
    return datanode.description().checksGeneration();
  }
}
