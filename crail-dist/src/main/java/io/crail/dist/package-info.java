/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of {@code bin/crail}: what they take, how they find their configuration, what they
 * print, and their exit codes. What a command does lies in the modules below; nobody depends on
 * this one.
 */
package io.crail.dist;
