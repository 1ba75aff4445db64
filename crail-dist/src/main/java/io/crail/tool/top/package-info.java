/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What goes on in a cluster: what clients do in a second, what datanodes serve, and the hottest
 * paths. It compares answers of namenodes; what they mean at one moment is in the reports.
 */
package io.crail.tool.top;
