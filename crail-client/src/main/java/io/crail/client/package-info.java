/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client behind the API of {@code io.crail}: the store, which checks what its user asks for and
 * starts calls, its keys, and the making of its parts. The packages below do the work, one for each
 * idea. Nothing here is API; it may change at any time.
 *
 * <p>A client is tested against a cluster, so most of its tests are in the module crail-testkit, in
 * the package {@code io.crail.store}: over each tier, and in simulated time. The tests of this
 * module need no server.
 */
package io.crail.client;
