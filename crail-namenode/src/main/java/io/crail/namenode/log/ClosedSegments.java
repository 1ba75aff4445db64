/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

/** Temporary. */
public record ClosedSegments(long segment, long last, long bytes) {}
