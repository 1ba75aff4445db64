/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The entry of {@code bin/crail}: it finds the command and turns its end into an exit code. The
 * commands are in the packages below, which all use {@code command}. The work of a command is in
 * other modules. No module depends on this one.
 */
package io.crail.tool;
