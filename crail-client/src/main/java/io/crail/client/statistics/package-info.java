/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a store counts, under Apache Crail's names. Whoever counts knows these classes; they know
 * nobody.
 */
package io.crail.client.statistics;
