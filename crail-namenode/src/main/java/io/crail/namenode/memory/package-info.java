/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of a namenode's contents: the account of its heap, and the pool outside the heap for
 * the bytes of values. It knows sizes, but not what they mean.
 */
package io.crail.namenode.memory;
