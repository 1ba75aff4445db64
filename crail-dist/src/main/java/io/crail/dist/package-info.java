/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The entry of {@code bin/crail}: it finds the command and turns its end into an exit code. The
 * commands lie in the packages below, each of them over {@code command}. What a command does lies
 * in the modules below; nobody depends on this one.
 */
package io.crail.dist;
