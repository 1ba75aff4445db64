/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of libibverbs and librdmacm that DiSNI's verbs layer lacks, in the same native library:
 * waits that end, IPv6 addresses, and batches without an object for each request. Handles are
 * addresses of C structures. How they are used does not belong here.
 */
package io.crail.verbs;
