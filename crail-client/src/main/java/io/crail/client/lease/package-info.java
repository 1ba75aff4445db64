/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The write leases of a store, from the request that brings one to the answer that ends it: leases
 * in use and their renewal, leases that nobody uses, and leases that this store may have without
 * knowing it.
 */
package io.crail.client.lease;
