/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The write leases of a store, from the request that brings one to the answer that ends it: leases
 * in use and their renewal, and leases that no stream uses.
 */
package io.crail.client.lease;
