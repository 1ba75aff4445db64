/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of an administrator: reports of the namenodes and orders to them, the configuration,
 * the version. What they print is for people; a namenode that is down costs its part of a report.
 */
package io.crail.dist.admin;
