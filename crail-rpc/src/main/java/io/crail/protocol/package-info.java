/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The metadata protocol: one table of operations, and what follows from the table at a client and
 * at a server. Below it stand the messages, by family: of nodes and of the cluster, the parts that
 * they share, and the codecs. No transport is named here.
 */
package io.crail.protocol;
