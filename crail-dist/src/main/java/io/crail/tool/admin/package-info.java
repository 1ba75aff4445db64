/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands of an administrator: reports from the namenodes and orders to them, the
 * configuration, the version. Their output is for people. A report lacks the part of a namenode
 * that is down.
 */
package io.crail.tool.admin;
