/* SPDX-License-Identifier: Apache-2.0 */
/** The contract of a storage tier, run over each of them. */
package io.crail.testkit.tier;
