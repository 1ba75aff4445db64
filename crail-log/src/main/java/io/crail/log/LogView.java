/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/**
 * A time of a log, from one takeover to the next. Immutable.
 *
 * @param epoch its number; the first view has 1, and each next one is one more
 * @param by what the client that took over, or created the log, said of itself
 */
public record LogView(long epoch, String by) {}
