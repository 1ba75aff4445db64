/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

/**
 * A datanode as a client reads and writes it. Thread-safe; any number of transfers may be
 * outstanding. A lost connection fails the transfers on it that were not completed, each with a
 * typed error, and is made again for the next ones.
 */
public interface StorageEndpoint extends AutoCloseable {
  /** Moves bytes from the extent into the buffer; ends the transfer when they are all there. */
  void read(Transfer transfer);

  /**
   * Moves bytes from the buffer into the extent; ends the transfer when they are placed, that is
   * when every later read sees them.
   *
   * <p>Where the datanode checks no generations, the deadline is all that protects who gets the
   * space next: what is not placed then has to be stopped, if need be by ending the connection, and
   * may arrive no later than {@code crail.namenode.freemargin} allows.
   */
  void write(Transfer transfer);

  /**
   * True when bytes are copied within this host, by the calling thread, before the call returns.
   */
  boolean isLocal();

  /**
   * True when the datanode is lost: its process has ended, or nothing leads to it now. The endpoint
   * holds neither memory nor a connection of it then, so whoever keeps endpoints forgets this one
   * and has the datanode described anew. Called in the loop every now and then, and by any thread
   * that looks for an endpoint.
   */
  default boolean isLost() {
    return false;
  }

  /** Fails outstanding transfers and releases the connection. */
  @Override
  void close();
}
