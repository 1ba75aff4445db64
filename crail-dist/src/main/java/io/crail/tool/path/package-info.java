/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands on files, directories, tables and values, on the public API. They need no Hadoop,
 * and know all types of nodes; Hadoop's shell is in {@code shell}.
 */
package io.crail.tool.path;
