/* SPDX-License-Identifier: Apache-2.0 */
/** Hadoop's own contract of a file system, suite by suite, against processes over TCP. */
package io.crail.hadoop.contract;
