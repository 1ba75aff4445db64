/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

/**
 * A submission queue and its completion queue at a controller, which share one connection. Used
 * only in the loop of the connection.
 */
public interface NvmeQueue {
  /** Learns of the connection. Called in the loop. */
  interface Listener {
    /** The connection is ready for the connect command. */
    void opened();

    /** The connection is gone; its requests know. Called once at most. */
    void lost(String cause);
  }

  /**
   * Sets how many bytes of data a command may carry along, once the controller has said so.
   *
   * @param bytes 0 when a command carries none
   */
  void inCapsule(int bytes);

  /**
   * Whether the memory of a request is left alone from the moment that it is given up. Otherwise
   * the target may use it until the request or the queue ends.
   */
  boolean leavesMemoryAlone();

  /** True when one more request may be in flight. */
  boolean hasRoom();

  /** Requests in flight. */
  int inFlight();

  /** Sends a request, at the latest with the next {@link #flush}. There must be room. */
  void send(NvmeRequest request);

  /** Lets the requests leave that were sent. */
  void flush();

  /**
   * Ends the connection at once: nothing leaves any more. Reports this to the requests in flight,
   * and not to the listener.
   */
  void close(String cause);
}
