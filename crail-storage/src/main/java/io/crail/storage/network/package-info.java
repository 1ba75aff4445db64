/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every endpoint behind a network shares: the attempts to connect, what waits and what is sent
 * again, and the deadlines. How bytes are moved is the tier's.
 */
package io.crail.storage.network;
