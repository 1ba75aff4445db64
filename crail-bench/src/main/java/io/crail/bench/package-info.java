/* SPDX-License-Identifier: Apache-2.0 */
/** {@code iobench}: benchmarks of a running cluster, and the table of their types. */
package io.crail.bench;
