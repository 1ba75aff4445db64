/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every way over a network shares: the hello between client and datanode, and at the client's
 * end the attempts to connect, the queue, repeated transfers and deadlines. Each tier moves the
 * bytes itself.
 */
package io.crail.storage.network;
