/* SPDX-License-Identifier: Apache-2.0 */

/**
 * In-band authentication by DH-HMAC-CHAP: secrets, messages and proofs, without any queue. Source:
 * NVM Express Base Specification 2.0, "NVMe In-band Authentication".
 */
package io.crail.nvmf.auth;
