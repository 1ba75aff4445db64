/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The operations of a store, one class each: the requests that it sends, and the future of its
 * caller. Nodes, streams and leases are below.
 */
package io.crail.client.call;
