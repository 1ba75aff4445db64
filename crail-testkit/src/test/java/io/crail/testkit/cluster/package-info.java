/* SPDX-License-Identifier: Apache-2.0 */

/**
 * A whole cluster in one thread and in virtual time, under random load and random faults, beside a
 * model that knows what may be true. One seed decides everything.
 */
package io.crail.testkit.cluster;
