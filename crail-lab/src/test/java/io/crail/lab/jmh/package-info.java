/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Benchmarks of single layers with JMH. Each has everything in one process, so that {@code -prof
 * gc} counts the allocation of both sides. {@code bin/jmh} runs them.
 */
package io.crail.lab.jmh;
