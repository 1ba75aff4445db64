/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The datanodes and their space: regions, who gets which part of them, and how long a part rests
 * that somebody may still write to.
 */
package io.crail.namenode.space;
