/* SPDX-License-Identifier: Apache-2.0 */
/** What is recorded while a load runs: latencies, rates, figures. */
package io.crail.bench.record;
