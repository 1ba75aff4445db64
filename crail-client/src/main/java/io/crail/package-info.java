/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The public API of Crail: the store, its nodes, and the streams that move bytes in and out of
 * them. Names and shapes are those of Apache Crail 1.2. The implementation is in {@code
 * io.crail.client}, which is no API.
 */
package io.crail;
