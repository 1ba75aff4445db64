/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every command is made of: its options, its configuration, its cluster, its end. Knows no
 * single command.
 */
package io.crail.dist.command;
