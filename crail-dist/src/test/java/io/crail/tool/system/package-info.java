/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests with real processes on the loopback interface: what a user starts, and what goes wrong when
 * parts of it are killed, restarted or fed with garbage. {@code bin/test} runs them on what {@code
 * bin/crail} runs.
 */
package io.crail.tool.system;
