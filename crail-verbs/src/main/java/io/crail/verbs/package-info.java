/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What Crail needs of libibverbs and librdmacm beside the verbs layer of DiSNI, in the same native
 * library: waits that end, both kinds of IP address, batches without an object for each. Handles
 * are addresses of C structures; what they are used for does not belong here.
 */
package io.crail.verbs;
