/* SPDX-License-Identifier: Apache-2.0 */

/** That the simulated network does what it promises: order, faults, and the same again. */
package io.crail.testkit.sim;
