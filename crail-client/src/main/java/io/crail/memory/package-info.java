/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that transfers can use directly: buffers outside the Java heap, and the bounded pool from
 * which a store lends them.
 */
package io.crail.memory;
