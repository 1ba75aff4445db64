/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import io.crail.client.ClientKeys;
import io.crail.common.DirectMemory;
import io.crail.common.config.Configuration;

/**
 * How those who read and write map outputs share the store's buffers, so that blocks that are
 * fetched ahead and writers never take them all: half is for those blocks, a quarter for writers.
 * Indexes, blocks that are read while they are used and broadcast values take what is free.
 *
 * @param fetchedBytes most bytes of buffers with blocks that are fetched ahead
 * @param writers most outputs that are written at a time
 */
public record BufferShares(long fetchedBytes, int writers) {
  private static final int WRITERS_PART = 4;

  /** The shares of a store with this configuration, in this process. */
  static BufferShares of(Configuration configuration) {
    return of(
        configuration.get(ClientKeys.BUFFER_SIZE),
        configuration.get(ClientKeys.SLICE_SIZE),
        Math.min(configuration.get(ClientKeys.CACHE_LIMIT), DirectMemory.ofBuffers()));
  }

  static BufferShares of(long bufferBytes, long sliceBytes, long allBytes) {
    long all = allBytes / bufferBytes;
    // A stream has two slices at least.
    long ofWriter = sliceBytes >= bufferBytes ? 2 : 1;
    long fetched = Math.max(0, Math.min(all / 2, all - ofWriter - 1));
    long writers = Math.max(1, all / WRITERS_PART / ofWriter);
    return new BufferShares(fetched * bufferBytes, (int) Math.min(writers, Integer.MAX_VALUE));
  }
}
