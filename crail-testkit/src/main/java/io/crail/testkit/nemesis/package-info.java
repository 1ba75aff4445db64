/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults of a test: a plan drawn from a seed, the code that carries it out, and networks that can
 * be cut. The test itself decides what a fault does to a process.
 */
package io.crail.testkit.nemesis;
