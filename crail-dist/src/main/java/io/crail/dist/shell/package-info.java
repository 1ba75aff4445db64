/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hadoop's shell on a cluster. The only commands with classes of Hadoop, which may be missing until
 * one of them runs.
 */
package io.crail.dist.shell;
