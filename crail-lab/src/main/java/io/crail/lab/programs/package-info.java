/* SPDX-License-Identifier: Apache-2.0 */
/** Programs of one machine that are measured: Crail, its peers, tools. */
package io.crail.lab.programs;
