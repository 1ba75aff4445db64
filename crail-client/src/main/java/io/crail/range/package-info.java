/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads at positions: of one file, and of many ranges of many files with bounded memory, as a
 * shuffle or a columnar format needs them. Public API over the streams of {@code io.crail}; nothing
 * here knows their implementation.
 */
package io.crail.range;
