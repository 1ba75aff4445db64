/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

/**
 * The files of a log that do not change any more: all of what is in them is durable.
 *
 * @param segment the number of the last one; 0 for none
 * @param last the number of the last record in them
 * @param bytes how many a start had to read of them, without any snapshot; as counted by one log
 */
public record ClosedSegments(long segment, long last, long bytes) {}
