/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every way over a network shares: the hello between client and datanode, and at the client's
 * end the attempts to connect, what waits, what is sent again, and the deadlines. How bytes are
 * moved is the tier's.
 */
package io.crail.storage.network;
