/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The handles of nodes as their users see them, and what all handles and calls of a store share.
 * Bytes move in streams, which are opened here; calls are above.
 */
package io.crail.client.node;
