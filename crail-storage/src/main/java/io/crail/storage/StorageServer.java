/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The server part of a tier: the regions that a datanode lends, and the threads that serve them.
 * Started and closed by the datanode's daemon, in one thread.
 */
public interface StorageServer extends Fencer, AutoCloseable {
  /**
   * Allocates the regions and starts to serve.
   *
   * @param uuid identity of this datanode process
   * @throws IOException that names the address or directory, and what is missing
   */
  void start(UUID uuid) throws IOException;

  /** The address that clients connect to. */
  InetSocketAddress address();

  /** The regions, by ascending index from 0, each a multiple of the block size of the cluster. */
  List<Region> regions();

  /** What is known of the bytes that it keeps, once it is started; empty when it keeps none. */
  default Optional<LastingBytes> kept() {
    return Optional.empty();
  }

  /** The traits of this tier, once the server is started. */
  TierTraits traits();

  /**
   * Why the server no longer serves, though it was not closed; empty while it serves. By any
   * thread.
   */
  default Optional<String> failure() {
    return Optional.empty();
  }

  /**
   * What a server has done for its clients since its start. Bytes that clients read and write by
   * themselves, in memory of their own host or one-sided over RDMA, are unknown to it.
   *
   * @param heldBytes memory that its connections hold for their clients now
   * @param reads reads that were answered with data
   * @param readBytes the bytes of these
   * @param writes writes that were completed
   * @param writtenBytes the bytes of these
   */
  record Statistics(long heldBytes, long reads, long readBytes, long writes, long writtenBytes) {
    /** The sum of both. */
    public Statistics plus(Statistics other) {
      return new Statistics(
          heldBytes + other.heldBytes,
          reads + other.reads,
          readBytes + other.readBytes,
          writes + other.writes,
          writtenBytes + other.writtenBytes);
    }
  }

  /** Data connections that are open now; empty when it has none to know of. By any thread. */
  default OptionalInt connections() {
    return OptionalInt.empty();
  }

  /** What this server has done; empty when it sees nothing of what clients do. By any thread. */
  default Optional<Statistics> statistics() {
    return Optional.empty();
  }

  /**
   * Requests that were refused with this error since the start; 0 when it does not see requests. By
   * any thread.
   */
  default long refusals(ErrorCode error) {
    return 0;
  }

  /**
   * The foreign targets that have its regions, and whether it can use each of them now; empty when
   * it has the regions itself. By any thread.
   */
  default Map<String, Boolean> targets() {
    return Map.of();
  }

  /** Stops serving, ends all threads and removes what was created, unless it is kept. */
  @Override
  void close();
}
