/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What goes wrong in a test, and when: a plan of faults drawn from a seed, who carries it out, and
 * networks that can be cut. What a fault does to a process is the test's.
 */
package io.crail.testkit.nemesis;
