/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a store must hold after operations that were done, not done, or of which nobody knows: bytes
 * that tell who wrote them, what may be found under a name, and a file in which the processes of a
 * test keep that so that it outlives them. Nothing here talks to a store.
 */
package io.crail.testkit.model;
