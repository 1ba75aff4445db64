/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A tier as others may write one. Nothing in Crail names it: its service file alone puts it on the
 * class path of tests, so whatever lists tiers has to find it.
 */
package io.crail.testkit.guest;
