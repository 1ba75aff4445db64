/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

/**
 * Who sends a request.
 *
 * @param user the owner of the nodes that it creates
 * @param client the id of the client, which owns write leases
 */
public record Caller(SessionUser user, long client) {}
