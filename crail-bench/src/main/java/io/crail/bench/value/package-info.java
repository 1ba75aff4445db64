/* SPDX-License-Identifier: Apache-2.0 */
/** Types of iobench that put and get values. */
package io.crail.bench.value;
