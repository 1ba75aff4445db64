/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The limits of the machine: bare messages over loopback and bare memory copies, in the same
 * language, with the same sizes and ways of waiting as Crail, but without Crail.
 */
package io.crail.lab.limits;
