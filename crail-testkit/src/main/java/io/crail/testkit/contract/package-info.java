/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Contracts as abstract test classes: what every transport does, written once and run against each
 * of them. Contracts of tiers are test classes themselves, among the tests.
 */
package io.crail.testkit.contract;
