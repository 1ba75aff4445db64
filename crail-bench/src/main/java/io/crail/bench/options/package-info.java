/* SPDX-License-Identifier: Apache-2.0 */
/** The command line of a benchmark. */
package io.crail.bench.options;
