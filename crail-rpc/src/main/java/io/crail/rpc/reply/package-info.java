/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Answers that a server remembers, so that a request which is sent again is not served again. The
 * idea is that of RIFL (Lee et al., SOSP 2015), with the slots of NFS 4.1 sessions (RFC 8881,
 * section 2.10.6) to say which answers have arrived.
 */
package io.crail.rpc.reply;
