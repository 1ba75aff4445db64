/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a store counts, under Apache Crail's names. The classes that count know this package; it
 * knows none of them.
 */
package io.crail.client.statistics;
