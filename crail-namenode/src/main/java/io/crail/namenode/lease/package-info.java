/* SPDX-License-Identifier: Apache-2.0 */
/** The write leases of clients: the holders, the duration, and what happens at the end. */
package io.crail.namenode.lease;
