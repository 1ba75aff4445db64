/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.rpc.login.Credentials;

/**
 * A client of the datanode's host, as it logs in there.
 *
 * @param id identity of the client, the same as to namenodes
 * @param credentials what it logs in with; a login of more than one message is refused
 */
public record LocalClient(long id, Credentials credentials) {}
