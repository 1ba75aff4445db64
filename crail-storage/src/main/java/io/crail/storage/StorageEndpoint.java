/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

/**
 * A datanode as a client reads and writes it. Thread-safe; any number of transfers may be
 * outstanding. A lost connection fails its transfers that were not completed, each with a typed
 * error, and is made again for the next transfers.
 */
public interface StorageEndpoint extends AutoCloseable {
  /** Moves bytes from the extent into the buffer. Ends the transfer when all bytes have arrived. */
  void read(Transfer transfer);

  /**
   * Moves bytes from the buffer into the extent. Ends the transfer when the bytes are placed, that
   * is, when every later read sees them.
   *
   * <p>Where the datanode checks no generations, only the deadline protects the next owner of the
   * space. At the deadline the endpoint has to stop bytes that are not placed, if need be by ending
   * the connection. They may arrive no later than {@code crail.namenode.freemargin} allows.
   */
  void write(Transfer transfer);

  /**
   * Makes the bytes durable that earlier writes to the region of the extent have placed, and ends
   * the transfer then. Where bytes lie in memory it ends at once, since nothing makes them more
   * durable.
   *
   * @param transfer prepared by {@link Transfer#prepareFlush}
   */
  default void flush(Transfer transfer) {
    transfer.end();
  }

  /**
   * True when bytes are copied within this host, by the calling thread, before the call returns.
   */
  boolean isLocal();

  /**
   * True when the datanode is lost: its process has ended, or it cannot be reached now. The
   * endpoint then holds neither its memory nor a connection to it, so the owner forgets the
   * endpoint and has the datanode described anew. Called in the loop now and then, and by any
   * thread that looks for an endpoint.
   */
  default boolean isLost() {
    return false;
  }

  /**
   * True when the datanode is on this host and its process has ended, so that its memory is gone. A
   * datanode of another host may have ended without this. Called by any thread.
   */
  default boolean hasEnded() {
    return false;
  }

  /** Fails outstanding transfers and releases the connection. */
  @Override
  void close();
}
