/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Frames over RDMA send and receive: DaRPC's messages, many frames in each where both ends are
 * Crail's. A server's threads own their connections, a client's are polled by whoever drives the
 * loop. What decides (credits, packing, greetings) is pure; nothing here knows an operation.
 */
package io.crail.rpc.darpc;
