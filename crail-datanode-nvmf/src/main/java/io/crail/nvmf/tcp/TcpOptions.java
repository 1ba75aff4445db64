/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

/**
 * What a host asks for on each connection.
 *
 * @param headerDigest whether headers have a checksum
 * @param dataDigest whether data have a checksum
 */
public record TcpOptions(boolean headerDigest, boolean dataDigest) {
  int flags() {
    return (headerDigest ? Pdu.HEADER_DIGEST : 0) | (dataDigest ? Pdu.DATA_DIGEST : 0);
  }
}
