/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.lang.annotation.Native;

/**
 * Sizes and offsets, in bytes, of the C structures that callers of {@link Verbs} lay out or read,
 * and the numbers in them. The native library is compiled against these constants and asserts each
 * of them. All fields are in native byte order unless said otherwise.
 */
public final class Layouts {
  // struct ibv_sge
  /** Size of an element: a run of registered memory. */
  @Native public static final int SGE_SIZE = 16;

  /** long: where the run begins. */
  @Native public static final int SGE_ADDRESS = 0;

  /** int: its length in bytes, unsigned. */
  @Native public static final int SGE_LENGTH = 8;

  /** int: local key of its memory region; not looked at in inline sends. */
  @Native public static final int SGE_LKEY = 12;

  // The beginning of struct ibv_send_wr and all of struct ibv_recv_wr
  /** long: comes back in the completion. */
  @Native public static final int WR_ID = 0;

  /** long: address of the next request of the chain, 0 in the last one. */
  @Native public static final int WR_NEXT = 8;

  /** long: address of the first element; elements lie one after another. */
  @Native public static final int WR_SGES = 16;

  /** int: number of elements. */
  @Native public static final int WR_SGE_COUNT = 24;

  /** Size of a receive request. */
  @Native public static final int RECV_WR_SIZE = 32;

  // The rest of struct ibv_send_wr
  /** int: what is to be done, such as {@link #OPCODE_SEND}. */
  @Native public static final int SEND_WR_OPCODE = 28;

  /** int: sum of {@code SEND_...} flags. */
  @Native public static final int SEND_WR_FLAGS = 32;

  /** int in network byte order: immediate data. */
  @Native public static final int SEND_WR_IMMEDIATE = 36;

  /** long: where to read or write in the peer's memory. */
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

  /** Make a completion; without it there is one only on failure. */
  @Native public static final int SEND_SIGNALED = 2;

  /** Raise the peer's completion event if it asked for solicited ones. */
  @Native public static final int SEND_SOLICITED = 4;

  /** Copy the bytes while posting: they need no registration and may be changed at once. */
  @Native public static final int SEND_INLINE = 8;

  // struct ibv_wc
  /** Size of a completion. */
  @Native public static final int WC_SIZE = 48;

  /** long: the id of its request. */
  @Native public static final int WC_ID = 0;

  /** int: {@link #WC_SUCCESS} or what went wrong. */
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

  /** Status: done. */
  @Native public static final int WC_SUCCESS = 0;

  /** Status: the queue pair went into the error state before this request was worked on. */
  @Native public static final int WC_FLUSHED = 5;

  /** Status: the peer refused the access: wrong key, outside of the region, or not allowed. */
  @Native public static final int WC_REMOTE_ACCESS_ERROR = 10;

  /** Status: the peer does not answer. */
  @Native public static final int WC_RETRIES_EXCEEDED = 12;

  /** Status: the peer has posted no receive request for too long. */
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

  /** int: outstanding send requests. */
  @Native public static final int QP_CAPS_SEND_WRS = 0;

  /** int: outstanding receive requests. */
  @Native public static final int QP_CAPS_RECV_WRS = 4;

  /** int: elements of a send request. */
  @Native public static final int QP_CAPS_SEND_SGES = 8;

  /** int: elements of a receive request. */
  @Native public static final int QP_CAPS_RECV_SGES = 12;

  /** int: bytes of an inline send. */
  @Native public static final int QP_CAPS_INLINE_BYTES = 16;

  // Our own structure crail_cm_event
  /** Size of an event of the connection manager. */
  @Native public static final int CM_EVENT_SIZE = 296;

  /** int: what happened, a {@code CM_...} number. */
  @Native public static final int CM_EVENT_TYPE = 0;

  /** int: 0, a negative error number, or for {@link #CM_REJECTED} the reason. */
  @Native public static final int CM_EVENT_STATUS = 4;

  /** long: the id it happened to; for {@link #CM_CONNECT_REQUEST} a new one, now the reader's. */
  @Native public static final int CM_EVENT_ID = 8;

  /** long: the id that listens, for {@link #CM_CONNECT_REQUEST}; otherwise -1. */
  @Native public static final int CM_EVENT_LISTEN_ID = 16;

  /** int: number of the peer's queue pair. */
  @Native public static final int CM_EVENT_QP_NUMBER = 24;

  /** byte, unsigned: most reads that the peer will have under way here. */
  @Native public static final int CM_EVENT_RESPONDER_RESOURCES = 28;

  /** byte, unsigned: most reads that may be under way there. */
  @Native public static final int CM_EVENT_INITIATOR_DEPTH = 29;

  /** byte: how often a send is repeated. */
  @Native public static final int CM_EVENT_RETRIES = 30;

  /** byte: how often a send is repeated that finds no receive request. */
  @Native public static final int CM_EVENT_RNR_RETRIES = 31;

  /** int: bytes of private data. InfiniBand and RoCE pad it with zeros. */
  @Native public static final int CM_EVENT_PRIVATE_LENGTH = 32;

  /** The private data, at most 255 bytes. */
  @Native public static final int CM_EVENT_PRIVATE = 40;

  /** The address belongs to a device now. */
  @Native public static final int CM_ADDRESS_RESOLVED = 0;

  /** No device leads to the address. */
  @Native public static final int CM_ADDRESS_ERROR = 1;

  /** The way to the peer is known. */
  @Native public static final int CM_ROUTE_RESOLVED = 2;

  /** There is no way to the peer. */
  @Native public static final int CM_ROUTE_ERROR = 3;

  /** A peer asks for a connection. */
  @Native public static final int CM_CONNECT_REQUEST = 4;

  /** The peer has answered; only for ids without a queue pair. */
  @Native public static final int CM_CONNECT_RESPONSE = 5;

  /** The connection failed while it was set up. */
  @Native public static final int CM_CONNECT_ERROR = 6;

  /** The peer does not answer. */
  @Native public static final int CM_UNREACHABLE = 7;

  /** The peer has refused, or nobody listens there. */
  @Native public static final int CM_REJECTED = 8;

  /** Connected. */
  @Native public static final int CM_ESTABLISHED = 9;

  /** One side has ended the connection. */
  @Native public static final int CM_DISCONNECTED = 10;

  /** The device goes away; the id has to be destroyed. */
  @Native public static final int CM_DEVICE_REMOVAL = 11;

  /** The network device behind the address has changed. */
  @Native public static final int CM_ADDRESS_CHANGE = 14;

  /** The queue pair may be used again. */
  @Native public static final int CM_TIMEWAIT_EXIT = 15;

  /** Reason of a rejection on InfiniBand and RoCE: nobody listens on the port. */
  @Native public static final int REJECTED_NO_LISTENER = 8;

  /** Reason of a rejection on InfiniBand and RoCE: {@link Verbs#reject}. */
  @Native public static final int REJECTED_BY_PEER = 28;

  // Rights of a memory region
  /** The device may write into it: receives and reads. */
  @Native public static final int ACCESS_LOCAL_WRITE = 1;

  /** Peers may write; needs {@link #ACCESS_LOCAL_WRITE}. */
  @Native public static final int ACCESS_REMOTE_WRITE = 2;

  /** Peers may read. */
  @Native public static final int ACCESS_REMOTE_READ = 4;

  // States of a queue pair
  /** Ready to send and to receive. */
  @Native public static final int QP_STATE_READY_TO_SEND = 3;

  /** Failed or given up: all requests are flushed. */
  @Native public static final int QP_STATE_ERROR = 6;

  private Layouts() {}
}
