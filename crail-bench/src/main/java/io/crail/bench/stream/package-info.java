/* SPDX-License-Identifier: Apache-2.0 */
/** Types of iobench that read and write streams. */
package io.crail.bench.stream;
