/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The controller that starts and ends datanodes as they fill and empty. What it decides is a pure
 * function of what it sees; what it does goes through hooks of the operator, under a lease.
 */
package io.crail.tool.scale;
