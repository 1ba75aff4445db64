/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.error.CrailException;
import java.util.List;

/**
 * A controller of a subsystem, which belongs to one host's loop: what its namespaces are, and one
 * queue for I/O. It is made once, and is never used again after it was lost. Used only in the loop.
 */
public interface Controller {
  /** Learns how the controller does. Called in the loop. */
  interface Listener {
    /** The controller takes I/O. */
    void ready();

    /**
     * The target refuses, for good unless something is changed there or here.
     *
     * @param cause names the subsystem
     */
    void refused(CrailException cause);

    /** The target does not answer, or no more. The requests in flight know. */
    void lost(String cause);
  }

  /** Begins to connect. Exactly one method of the listener follows, unless this is closed. */
  void start();

  /** The subsystem. */
  Subsystem subsystem();

  /** What the controller says about itself, once it is ready. */
  ControllerData data();

  /** The namespaces, once the controller is ready. */
  List<NamespaceData> namespaces();

  /** The queue for I/O, once the controller is ready; null before. */
  NvmeQueue io();

  /**
   * Ends all connections at once. This is reported to the requests in flight, but not to the
   * listener.
   */
  void close(String cause);
}
