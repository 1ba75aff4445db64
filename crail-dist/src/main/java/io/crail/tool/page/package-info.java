/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The web page of a namenode, which shows the whole cluster: its files, and the answers that they
 * ask for. It reads and changes nothing. Its work has limits, whatever browsers do.
 */
package io.crail.tool.page;
