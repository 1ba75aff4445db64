/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Completion of command lines by shells: scripts that are made of what the commands declare. Only
 * words that never change are completed, so that no JVM starts when a user asks.
 */
package io.crail.tool.completion;
