/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hadoop's shell on a cluster. Only this package uses Hadoop's classes, which may be missing until
 * the shell runs.
 */
package io.crail.tool.shell;
