/* SPDX-License-Identifier: Apache-2.0 */
/** The record of a running load: latencies, rates, figures. */
package io.crail.bench.record;
