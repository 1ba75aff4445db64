/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The datanodes and their space: the regions, which node gets which part of them, and how long a
 * part rests while a client may still write to it.
 */
package io.crail.namenode.space;
