/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import java.util.Set;

/**
 * Who asks: what the login of a connection has ended in. Rules of a namenode and servers of tiers
 * are given it, so that they need not believe what a request says of its sender. Thread-safe.
 */
public final class Caller {
  private final Principal principal;
  private final long client;
  private final Set<Right> rights;
  private final LoginKey key;
  private final long endSeconds;
  private final int mask;
  private volatile String end;

  /**
   * Creates a caller that has proved nothing.
   *
   * @param principal whom the server takes it for
   * @param client the id of the client, which owns write leases and may be cut off from data
   * @param rights what it may ask for
   */
  public Caller(Principal principal, long client, Set<Right> rights) {
    this(principal, client, rights, null);
  }

  /**
   * Creates a caller that has proved that it has a key.
   *
   * @param key the key; null for none
   */
  public Caller(Principal principal, long client, Set<Right> rights, LoginKey key) {
    this(principal, client, rights, key, Long.MAX_VALUE);
  }

  /**
   * Creates a caller whose login is good for a time.
   *
   * @param endSeconds when it ends, in seconds since 1970
   */
  public Caller(
      Principal principal, long client, Set<Right> rights, LoginKey key, long endSeconds) {
    this.endSeconds = endSeconds;
    this.principal = principal;
    this.client = client;
    this.rights = Set.copyOf(rights);
    this.key = key;
    int bits = 1 << Right.ANY.ordinal();
    for (Right each : rights) {
      bits |= 1 << each.ordinal();
    }
    this.mask = bits;
  }

  /** Whom the server takes it for. */
  public Principal principal() {
    return principal;
  }

  /** The id of the client. */
  public long client() {
    return client;
  }

  /** What it may ask for. */
  public Set<Right> rights() {
    return rights;
  }

  /** The key that it has proved to have; null if it has proved nothing. */
  public LoginKey key() {
    return key;
  }

  /** Whether it may ask for what needs a right. Allocates nothing. */
  public boolean may(Right right) {
    return (mask & 1 << right.ordinal()) != 0;
  }

  /** Whether the time of its login is over. */
  public boolean isOver(long nowSeconds) {
    return nowSeconds > endSeconds;
  }

  /** Its login is no longer good: the connection ends with its next request. By any thread. */
  public void end(String why) {
    end = why;
  }

  /** Why its login is no longer good; null as long as it is. */
  public String end() {
    return end;
  }

  @Override
  public String toString() {
    return principal + ", client " + Long.toHexString(client);
  }
}
