/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Contracts as abstract test classes: what every transport and every storage tier does, written
 * once and run against each of them.
 */
package io.crail.testkit.contract;
