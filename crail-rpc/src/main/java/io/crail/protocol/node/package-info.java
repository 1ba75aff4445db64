/* SPDX-License-Identifier: Apache-2.0 */
/** The messages about files, directories and the other nodes, their blocks and write leases. */
package io.crail.protocol.node;
