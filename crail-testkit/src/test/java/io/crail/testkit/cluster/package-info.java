/* SPDX-License-Identifier: Apache-2.0 */

/**
 * A whole cluster in one thread and in virtual time, with random load and random faults. A model
 * knows which results are possible. One seed decides everything.
 */
package io.crail.testkit.cluster;
