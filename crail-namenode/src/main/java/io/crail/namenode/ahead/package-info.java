/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Answers that leave before their changes are durable: what they wait for all the same, and how
 * much may be on its way to the disk.
 */
package io.crail.namenode.ahead;
