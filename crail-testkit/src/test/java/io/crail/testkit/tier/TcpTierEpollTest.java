/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

/** The TCP tier over the best back end of this system: epoll on Linux. */
class TcpTierEpollTest extends TcpTierContract {}
