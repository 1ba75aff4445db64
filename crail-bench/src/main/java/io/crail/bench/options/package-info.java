/* SPDX-License-Identifier: Apache-2.0 */
/** What a user may say on the command line of a benchmark. */
package io.crail.bench.options;
