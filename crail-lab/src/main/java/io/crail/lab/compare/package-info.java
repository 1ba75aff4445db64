/* SPDX-License-Identifier: Apache-2.0 */
/** The comparison of Crail with its peers and with the limits of the machine. */
package io.crail.lab.compare;
