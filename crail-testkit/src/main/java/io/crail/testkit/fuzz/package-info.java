/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Hostile bytes: requests that have a valid layout but that no honest client sends, and recorded
 * sessions that are replayed with faults. The targets of the fuzzer are in the test sources.
 */
package io.crail.testkit.fuzz;
