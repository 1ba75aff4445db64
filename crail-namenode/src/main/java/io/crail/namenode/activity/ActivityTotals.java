/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.activity;

import java.util.concurrent.atomic.LongAdder;

/**
 * What the connections of all clients count together.
 *
 * @param hotNodes the nodes that are looked up most
 * @param located bytes whose places clients were given
 * @param committed bytes that clients have made visible
 */
record ActivityTotals(HotNodes hotNodes, LongAdder located, LongAdder committed) {
  ActivityTotals(HotNodes hotNodes) {
    this(hotNodes, new LongAdder(), new LongAdder());
  }
}
