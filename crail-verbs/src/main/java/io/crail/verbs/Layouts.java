/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.lang.annotation.Native;

/**
 * Sizes and offsets, in bytes, of the C structures that callers of {@link Verbs} lay out or read,
 * and the constants in them. The native library is compiled against these constants and asserts
 * each of them. All fields are in native byte order unless said otherwise.
 */
public final class Layouts {
  // struct ibv_sge
  /** Size of an element: a run of registered memory. */
  @Native public static final int SGE_SIZE = 16;

  /** long: the address of its first byte. */
  @Native public static final int SGE_ADDRESS = 0;

  /** int: its length in bytes, unsigned. */
  @Native public static final int SGE_LENGTH = 8;

  /** int: local key of its memory region; ignored in inline sends. */
  @Native public static final int SGE_LKEY = 12;

  // The beginning of struct ibv_send_wr and all of struct ibv_recv_wr
  /** long: the id; the completion has it too. */
  @Native public static final int WR_ID = 0;

  /** long: address of the next request of the chain; 0 in the last request. */
  @Native public static final int WR_NEXT = 8;

  /** long: address of the first element; the elements follow each other in memory. */
  @Native public static final int WR_SGES = 16;

  /** int: number of elements. */
  @Native public static final int WR_SGE_COUNT = 24;

  /** Size of a receive request. */
  @Native public static final int RECV_WR_SIZE = 32;

  // The rest of struct ibv_send_wr
  /** int: the operation, such as {@link #OPCODE_SEND}. */
  @Native public static final int SEND_WR_OPCODE = 28;

  /** int: sum of {@code SEND_...} flags. */
  @Native public static final int SEND_WR_FLAGS = 32;

  /** int in network byte order: immediate data. */
  @Native public static final int SEND_WR_IMMEDIATE = 36;

  /** long: the address in the peer's memory to read or write. */
  @Native public static final int SEND_WR_REMOTE_ADDRESS = 40;

  /** int: remote key of the peer's memory region. */
  @Native public static final int SEND_WR_RKEY = 48;

  /** Size of a send request. */
  @Native public static final int SEND_WR_SIZE = 128;

  /** Write into the peer's memory. */
  @Native public static final int OPCODE_RDMA_WRITE = 0;

  /** Write, then consume a receive request of the peer. */
  @Native public static final int OPCODE_RDMA_WRITE_WITH_IMMEDIATE = 1;

  /** Send into a receive request of the peer. */
  @Native public static final int OPCODE_SEND = 2;

  /** Send, with immediate data. */
  @Native public static final int OPCODE_SEND_WITH_IMMEDIATE = 3;

  /** Read from the peer's memory. */
  @Native public static final int OPCODE_RDMA_READ = 4;

  /** Begin when earlier reads have ended. */
  @Native public static final int SEND_FENCE = 1;

  /** Make a completion. Without this flag there is a completion only on failure. */
  @Native public static final int SEND_SIGNALED = 2;

  /** Raise the peer's completion event if the peer asked for solicited events. */
  @Native public static final int SEND_SOLICITED = 4;

  /** Copy the bytes while posting. They need no registration and may change at once. */
  @Native public static final int SEND_INLINE = 8;

  // struct ibv_wc
  /** Size of a completion. */
  @Native public static final int WC_SIZE = 48;

  /** long: the id of the request. */
  @Native public static final int WC_ID = 0;

  /** int: {@link #WC_SUCCESS} or an error status. */
  @Native public static final int WC_STATUS = 8;

  /** int: a {@code WC_OPCODE_...} number; valid only on success. */
  @Native public static final int WC_OPCODE = 12;

  /** int: the device's own error number. */
  @Native public static final int WC_VENDOR_ERROR = 16;

  /** int: bytes received or read, unsigned; valid only on success. */
  @Native public static final int WC_LENGTH = 20;

  /** int in network byte order: immediate data. */
  @Native public static final int WC_IMMEDIATE = 24;

  /** int: number of the queue pair; valid on failure too. */
  @Native public static final int WC_QP_NUMBER = 28;

  /** int: sum of flags; {@link #WC_WITH_IMMEDIATE}. */
  @Native public static final int WC_FLAGS = 36;

  /** Flag: there is immediate data. */
  @Native public static final int WC_WITH_IMMEDIATE = 2;

  /** Status: success. */
  @Native public static final int WC_SUCCESS = 0;

  /** Status: the queue pair entered the error state before this request was processed. */
  @Native public static final int WC_FLUSHED = 5;

  /** Status: the peer refused the access: wrong key, outside the region, or no permission. */
  @Native public static final int WC_REMOTE_ACCESS_ERROR = 10;

  /** Status: the peer does not answer. */
  @Native public static final int WC_RETRIES_EXCEEDED = 12;

  /** Status: the peer had no receive request posted for too long. */
  @Native public static final int WC_RNR_RETRIES_EXCEEDED = 13;

  /** A send has ended. */
  @Native public static final int WC_OPCODE_SEND = 0;

  /** A write has ended. */
  @Native public static final int WC_OPCODE_RDMA_WRITE = 1;

  /** A read has ended. */
  @Native public static final int WC_OPCODE_RDMA_READ = 2;

  /** A message has arrived. */
  @Native public static final int WC_OPCODE_RECV = 128;

  /** A write with immediate data has arrived. */
  @Native public static final int WC_OPCODE_RECV_RDMA_WITH_IMMEDIATE = 129;

  // struct ibv_qp_cap
  /** Size of the capabilities of a queue pair. */
  @Native public static final int QP_CAPS_SIZE = 20;

  /** int: most outstanding send requests. */
  @Native public static final int QP_CAPS_SEND_WRS = 0;

  /** int: most outstanding receive requests. */
  @Native public static final int QP_CAPS_RECV_WRS = 4;

  /** int: most elements of a send request. */
  @Native public static final int QP_CAPS_SEND_SGES = 8;

  /** int: most elements of a receive request. */
  @Native public static final int QP_CAPS_RECV_SGES = 12;

  /** int: most bytes of an inline send. */
  @Native public static final int QP_CAPS_INLINE_BYTES = 16;

  // struct crail_cm_event, which Crail's library defines
  /** Size of an event of the connection manager. */
  @Native public static final int CM_EVENT_SIZE = 296;

  /** int: the event, a {@code CM_...} number. */
  @Native public static final int CM_EVENT_TYPE = 0;

  /** int: 0, or a negative error number, or the reason of a {@link #CM_REJECTED}. */
  @Native public static final int CM_EVENT_STATUS = 4;

  /**
   * long: the id of the event. For {@link #CM_CONNECT_REQUEST} it is a new id, which the reader
   * owns.
   */
  @Native public static final int CM_EVENT_ID = 8;

  /** long: the listening id for {@link #CM_CONNECT_REQUEST}; otherwise -1. */
  @Native public static final int CM_EVENT_LISTEN_ID = 16;

  /** int: number of the peer's queue pair. */
  @Native public static final int CM_EVENT_QP_NUMBER = 24;

  /** byte, unsigned: most reads of the peer in progress at this end. */
  @Native public static final int CM_EVENT_RESPONDER_RESOURCES = 28;

  /** byte, unsigned: most reads of this end in progress at the peer. */
  @Native public static final int CM_EVENT_INITIATOR_DEPTH = 29;

  /** byte: how often a send is repeated. */
  @Native public static final int CM_EVENT_RETRIES = 30;

  /** byte: how often a send is repeated when it finds no receive request. */
  @Native public static final int CM_EVENT_RNR_RETRIES = 31;

  /** int: bytes of private data. InfiniBand and RoCE pad the data with zeros. */
  @Native public static final int CM_EVENT_PRIVATE_LENGTH = 32;

  /** The private data, at most 255 bytes. */
  @Native public static final int CM_EVENT_PRIVATE = 40;

  /** The address was resolved to a device. */
  @Native public static final int CM_ADDRESS_RESOLVED = 0;

  /** No device leads to the address. */
  @Native public static final int CM_ADDRESS_ERROR = 1;

  /** The route to the peer is known. */
  @Native public static final int CM_ROUTE_RESOLVED = 2;

  /** There is no route to the peer. */
  @Native public static final int CM_ROUTE_ERROR = 3;

  /** A peer asks for a connection. */
  @Native public static final int CM_CONNECT_REQUEST = 4;

  /** The peer has answered. Only for ids without a queue pair. */
  @Native public static final int CM_CONNECT_RESPONSE = 5;

  /** The connection failed while it was set up. */
  @Native public static final int CM_CONNECT_ERROR = 6;

  /** The peer does not answer. */
  @Native public static final int CM_UNREACHABLE = 7;

  /** The peer has refused, or there is no listener at the address. */
  @Native public static final int CM_REJECTED = 8;

  /** The connection is established. */
  @Native public static final int CM_ESTABLISHED = 9;

  /** One end has closed the connection. */
  @Native public static final int CM_DISCONNECTED = 10;

  /** The device is being removed. The id has to be destroyed. */
  @Native public static final int CM_DEVICE_REMOVAL = 11;

  /** The network device of the address has changed. */
  @Native public static final int CM_ADDRESS_CHANGE = 14;

  /** The queue pair may be used again. */
  @Native public static final int CM_TIMEWAIT_EXIT = 15;

  /** Reason of a rejection on InfiniBand and RoCE: the port has no listener. */
  @Native public static final int REJECTED_NO_LISTENER = 8;

  /** Reason of a rejection on InfiniBand and RoCE: the peer called {@link Verbs#reject}. */
  @Native public static final int REJECTED_BY_PEER = 28;

  // Rights of a memory region
  /** The device may write into it, for receives and for own reads. */
  @Native public static final int ACCESS_LOCAL_WRITE = 1;

  /** Peers may write; needs {@link #ACCESS_LOCAL_WRITE}. */
  @Native public static final int ACCESS_REMOTE_WRITE = 2;

  /** Peers may read. */
  @Native public static final int ACCESS_REMOTE_READ = 4;

  // States of a queue pair
  /** Ready to send and to receive. */
  @Native public static final int QP_STATE_READY_TO_SEND = 3;

  /** An error has occurred, or {@link Verbs#setQpError} was called. All requests are flushed. */
  @Native public static final int QP_STATE_ERROR = 6;

  private Layouts() {}
}
