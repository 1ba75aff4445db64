/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of a namenode: records in numbered order, in frames, in files of a fixed length. What was
 * written is read again at the next start.
 */
package io.crail.namenode.log;
