/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client behind the API of {@code io.crail}: calls to namenodes, locations and their leases,
 * endpoints of datanodes, and streams. Nothing here is API; it may change at any time.
 */
package io.crail.client;
