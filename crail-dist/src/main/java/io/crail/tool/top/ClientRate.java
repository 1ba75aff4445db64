/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.top;

import io.crail.protocol.cluster.ReportActivity;

/**
 * What a client does in a second, or some clients together, at all namenodes.
 *
 * @param user the owner of the nodes that it creates; empty for the namenodes' own user, and for
 *     all clients of a host
 * @param host the name of its host, as it says; empty for all clients of a user
 * @param client its id in hexadecimal digits; empty for several clients
 * @param clients how many these are
 * @param lookups its requests for nodes, children and places of bytes
 * @param changes its requests that change nodes or take space
 * @param others its other requests
 * @param locatedBytes bytes whose places the namenodes have given it
 * @param committedBytes bytes that it has made visible
 */
public record ClientRate(
    String user,
    String host,
    String client,
    int clients,
    double lookups,
    double changes,
    double others,
    double locatedBytes,
    double committedBytes) {
  /**
   * What a client has done at a namenode between two answers. One that has come meanwhile has done
   * it all since; one that has closed a connection has done nothing that is known.
   *
   * @param before null for a client that has come
   */
  static ClientRate between(
      ReportActivity.Client before, ReportActivity.Client now, double seconds) {
    boolean isNew = before == null;
    return new ClientRate(
        now.user().toString(),
        now.host().toString(),
        Long.toHexString(now.id()),
        1,
        rate(isNew ? 0 : before.lookups(), now.lookups(), seconds),
        rate(isNew ? 0 : before.changes(), now.changes(), seconds),
        rate(isNew ? 0 : before.others(), now.others(), seconds),
        rate(isNew ? 0 : before.locatedBytes(), now.locatedBytes(), seconds),
        rate(isNew ? 0 : before.committedBytes(), now.committedBytes(), seconds));
  }

  private static double rate(long before, long now, double seconds) {
    return Math.max(0, now - before) / seconds;
  }

  /** The same under another name. */
  ClientRate as(String newUser, String newHost, String newClient) {
    return new ClientRate(
        newUser,
        newHost,
        newClient,
        clients,
        lookups,
        changes,
        others,
        locatedBytes,
        committedBytes);
  }

  /** The same client at another namenode. */
  ClientRate plus(ClientRate other) {
    return sum(clients, other);
  }

  /** Several clients, under the name of the first one. */
  ClientRate and(ClientRate other) {
    return sum(clients + other.clients, other);
  }

  private ClientRate sum(int newClients, ClientRate other) {
    return new ClientRate(
        user,
        host,
        client,
        newClients,
        lookups + other.lookups,
        changes + other.changes,
        others + other.others,
        locatedBytes + other.locatedBytes,
        committedBytes + other.committedBytes);
  }

  /** All its requests. */
  public double operations() {
    return lookups + changes + others;
  }
}
