/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the machine itself can do: bare messages over loopback and bare memory copies, in the same
 * language and with the same sizes and way of waiting as Crail, but without Crail.
 */
package io.crail.lab.limits;
