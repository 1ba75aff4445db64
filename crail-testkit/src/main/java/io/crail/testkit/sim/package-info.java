/* SPDX-License-Identifier: Apache-2.0 */

/**
 * A network and a clock in memory. A whole cluster runs in one thread, in virtual time, with
 * faults. The same seed gives the same run.
 */
package io.crail.testkit.sim;
