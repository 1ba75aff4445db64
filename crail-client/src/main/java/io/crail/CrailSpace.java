/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * The space of a cluster, over all namenodes and storage classes; {@code free + used + waiting =
 * capacity}.
 *
 * @param capacityBytes bytes that the datanodes lend
 * @param freeBytes bytes that can be given to a node now
 * @param usedBytes bytes that belong to nodes
 * @param waitingBytes bytes that wait for the end of leases: freed, or given ahead of values
 */
public record CrailSpace(long capacityBytes, long freeBytes, long usedBytes, long waitingBytes) {}
