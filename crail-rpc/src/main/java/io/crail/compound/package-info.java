/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compound operations: lists of guards, changes and reads of one node that take place at once, or
 * not at all. See {@code CrailStore.operate}.
 */
package io.crail.compound;
