/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands that measure. How to measure lies in the modules of the benchmarks; here is only
 * what they run with.
 */
package io.crail.dist.bench;
