/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looks at the logs of namenodes, without one that serves. What the bytes mean is known in {@code
 * io.crail.namenode} and its package {@code log}.
 */
package io.crail.tool.log;
