/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Frames over TCP with Netty: event loops that own their connections on the server, loops that the
 * waiting threads drive on the client. Nothing here knows an operation.
 */
package io.crail.rpc.netty;
