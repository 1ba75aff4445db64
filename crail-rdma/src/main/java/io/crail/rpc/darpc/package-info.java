/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Frames over RDMA send and receive: DaRPC's messages, with many frames in each if both ends are
 * Crail's. A server's threads own their connections. A client's connections are polled by the
 * thread that drives the loop. The classes that decide (credits, packing, greetings) are pure.
 * Nothing here knows an operation.
 */
package io.crail.rpc.darpc;
