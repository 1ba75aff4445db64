/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Hostile bytes: requests that a layout lets pass and nobody honest would send, and recorded
 * sessions that are replayed with faults. The targets of the fuzzer itself stand beside the tests.
 */
package io.crail.testkit.fuzz;
