/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What commands and pages show of a cluster, as plain values: records that print themselves as text
 * or as JSON. {@code ClusterQuery} asks the namenodes, {@code LatencyQuery} the datanodes. Nothing
 * here starts or changes anything.
 */
package io.crail.tool.report;
