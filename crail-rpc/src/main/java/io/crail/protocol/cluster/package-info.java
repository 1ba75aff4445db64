/* SPDX-License-Identifier: Apache-2.0 */
/** The messages about the cluster itself: greetings, datanodes and their regions, usage, dumps. */
package io.crail.protocol.cluster;
