/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Benchmarks of single layers with JMH, each with everything it needs in one process, so that
 * {@code -prof gc} counts what both sides allocate. {@code bin/jmh} runs them.
 */
package io.crail.lab.jmh;
