/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Benchmarks of a running cluster: {@code iobench} with its types, options and figures. What it
 * measures against (bare loopback, memory copy, other programs) is in {@code limits}.
 */
package io.crail.bench;
