/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client behind the API of {@code io.crail}: the store, which checks what its user asks for and
 * starts calls, its keys, and the making of its parts. The packages below do the work, one for each
 * idea. Nothing here is API; it may change at any time.
 */
package io.crail.client;
