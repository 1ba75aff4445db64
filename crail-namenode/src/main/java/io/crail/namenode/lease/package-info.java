/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The write leases of clients: who holds one, how long it lasts, and what happens when it runs out.
 */
package io.crail.namenode.lease;
