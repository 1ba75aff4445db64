/* SPDX-License-Identifier: Apache-2.0 */
/** Types of iobench that create, look up and list nodes. */
package io.crail.bench.meta;
