/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looks for what would make Crail slow or stop it: on this host, in the cluster, and on the other
 * hosts of the cluster.
 */
package io.crail.tool.doctor;
