/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands that measure. The measuring itself is in the modules of the benchmarks. This package
 * only prepares their runs.
 */
package io.crail.tool.bench;
