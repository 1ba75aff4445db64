/* SPDX-License-Identifier: Apache-2.0 */
/** The programs that are measured on one machine: Crail, its peers, tools. */
package io.crail.lab.programs;
