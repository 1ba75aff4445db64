/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The RPC engine: frames, batches of requests at a server, calls in flight at a client, and the
 * loop that a waiting thread drives itself. It knows opcodes and bytes, never an operation;
 * transports (TCP over Netty, RDMA, a simulated network) plug in below it, and the operation table
 * is built on top of it.
 */
package io.crail.rpc;
