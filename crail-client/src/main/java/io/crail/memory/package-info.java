/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that transfers can use directly: buffers outside the Java heap, and the bounded pool that
 * a store lends them from.
 */
package io.crail.memory;
