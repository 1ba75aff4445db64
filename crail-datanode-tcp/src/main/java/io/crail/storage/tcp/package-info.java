/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The TCP tier: a server whose event loops move bytes between sockets and mapped regions, the
 * client's endpoint, and the data protocol between them. Metadata does not belong here.
 */
package io.crail.storage.tcp;
