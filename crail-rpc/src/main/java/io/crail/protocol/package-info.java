/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The metadata protocol: one table of operations, the messages with their layouts, the values in
 * them, and what follows from the table at a client and at a server. No transport is named here.
 */
package io.crail.protocol;
