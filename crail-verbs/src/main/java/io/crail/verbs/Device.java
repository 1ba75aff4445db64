/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.util.List;

/**
 * The properties of a device.
 *
 * @param name such as "mlx5_0" or "rxe0"
 * @param nodeGuid the worldwide number of the device
 * @param maxQps most queue pairs
 * @param maxQpRequests most outstanding requests of a queue
 * @param maxSges most elements of a request
 * @param maxCqs most completion queues
 * @param maxCqEntries most entries of a completion queue
 * @param maxMrs most memory regions
 * @param maxMrBytes size of the largest memory region; Long.MAX_VALUE when there is no limit
 * @param maxPds most protection domains
 * @param maxReadsAsTarget most reads and atomics of a peer in progress on a queue pair
 *     (max_qp_rd_atom), the limit of responder resources
 * @param maxReadsAsInitiator most own reads and atomics in progress (max_qp_init_rd_atom), the
 *     limit of the initiator depth
 * @param completionVectors number of interrupts over which completion queues can be spread
 * @param ports its ports; the first has number 1
 */
public record Device(
    String name,
    long nodeGuid,
    int maxQps,
    int maxQpRequests,
    int maxSges,
    int maxCqs,
    int maxCqEntries,
    int maxMrs,
    long maxMrBytes,
    int maxPds,
    int maxReadsAsTarget,
    int maxReadsAsInitiator,
    int completionVectors,
    List<Port> ports) {
  /** Copies the list. */
  public Device {
    ports = List.copyOf(ports);
  }

  /** The kind of network at a port. */
  public enum LinkLayer {
    /** The device does not say. */
    UNSPECIFIED,
    /** InfiniBand. */
    INFINIBAND,
    /** Ethernet: RoCE or iWARP. */
    ETHERNET
  }

  /**
   * A port of a device.
   *
   * @param number counted from 1
   * @param active whether it carries data; a port that is down, initialising or armed does not
   * @param state its state, a number of enum ibv_port_state
   * @param activeMtuBytes largest payload of a packet: 256 to 4096
   * @param maxMtuBytes the largest possible value of {@code activeMtuBytes}
   * @param maxMessageBytes size of the largest message
   * @param linkLayer the kind of network
   * @param gids the non-empty entries of its GID table
   */
  public record Port(
      int number,
      boolean active,
      int state,
      int activeMtuBytes,
      int maxMtuBytes,
      long maxMessageBytes,
      LinkLayer linkLayer,
      List<Gid> gids) {
    /** Copies the list. */
    public Port {
      gids = List.copyOf(gids);
    }
  }

  /**
   * An entry of a GID table.
   *
   * @param index its index in the table
   * @param text the GID written as an IPv6 address, such as "::ffff:10.9.0.1"
   */
  public record Gid(int index, String text) {}
}
