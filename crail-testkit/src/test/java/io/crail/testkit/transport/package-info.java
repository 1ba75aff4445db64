/* SPDX-License-Identifier: Apache-2.0 */

/** The transports' contract, run for each of them, and what is special to one. */
package io.crail.testkit.transport;
