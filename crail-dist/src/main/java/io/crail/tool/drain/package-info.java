/* SPDX-License-Identifier: Apache-2.0 */
/** Commands that move data from datanode to datanode. */
package io.crail.tool.drain;
