/* SPDX-License-Identifier: Apache-2.0 */

/**
 * A network and a clock that exist only in memory: a whole cluster runs in one thread, in virtual
 * time, with faults, and does the same again for the same seed.
 */
package io.crail.testkit.sim;
