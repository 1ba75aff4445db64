/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Frames over TCP with Netty: on the server, event loops own their connections; on the client,
 * waiting threads drive the loops. Nothing here knows an operation.
 */
package io.crail.rpc.netty;
