/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The account of the heap that a namenode's contents take. It knows sizes of objects, but not what
 * they mean.
 */
package io.crail.namenode.memory;
