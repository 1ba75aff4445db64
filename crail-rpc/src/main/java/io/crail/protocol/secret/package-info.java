/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Logins by secret keys: the file that holds them, the login at a namenode, and tickets for the
 * data connections to datanodes.
 */
package io.crail.protocol.secret;
