/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.top;

/**
 * A path that is looked up often.
 *
 * @param path where the node is now
 * @param lookups lookups of the node in a second, at least, by a sample of the last few seconds
 */
public record PathRate(String path, double lookups) {}
