/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The write leases of a store, from the request that brings one to the answer that ends it: those
 * in use and their renewal, those that nobody uses, and those that may be there unknown to this
 * store.
 */
package io.crail.client.lease;
