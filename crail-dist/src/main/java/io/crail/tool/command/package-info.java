/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of every command: its options, its configuration, its cluster, its end. Knows no
 * particular command.
 */
package io.crail.tool.command;
