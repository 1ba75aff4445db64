/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.user;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.secret.SecretLogin;
import io.crail.protocol.secret.Secrets;
import io.crail.protocol.secret.SecurityKeys;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Who may log in at a namenode, and as what; and who is logged in. If a key is revoked, those who
 * have proved it lose their connections. Thread-safe.
 */
public final class Logins {
  /** All may log in as what they claim to be. */
  public static final Logins ANYBODY = new Logins(null, Set.of());

  private static final Set<Right> USER = Set.of(Right.ANY, Right.USE);

  private final Secrets secrets;
  private final Set<String> superusers;
  // With a key, by the id of the client.
  private final Map<Long, Set<Caller>> present = new ConcurrentHashMap<>();
  private Object known;

  private Logins(Secrets secrets, Set<String> superusers) {
    this.secrets = secrets;
    this.superusers = superusers;
    this.known = secrets == null ? null : secrets.current();
  }

  /**
   * The logins of a namenode.
   *
   * @param user the namenode's own user
   */
  public static Logins of(Configuration conf, String user, Clock clock) {
    Secrets secrets = Secrets.of(conf, clock);
    if (secrets == null) {
      return ANYBODY;
    }
    secrets.requireMasters();
    Set<String> superusers = new HashSet<>(conf.get(SecurityKeys.SUPERUSERS));
    superusers.add(user);
    return new Logins(secrets, superusers);
  }

  /** The ways to log in. */
  public Mechanisms mechanisms() {
    return secrets == null
        ? Mechanisms.ANYBODY
        : new Mechanisms(List.of(new SecretLogin(secrets, this::rights)));
  }

  private Set<Right> rights(Principal principal) {
    return principal.role() == Principal.Role.CLIENT
            && !superusers.contains(principal.name().toString())
        ? USER
        : Right.of(principal.role());
  }

  /**
   * Notes that somebody has logged in.
   *
   * @throws CrailException with {@link ErrorCode#UNAUTHENTICATED} when another user is here with
   *     the same id of a client
   */
  public void begin(Caller caller) throws CrailException {
    if (caller.key() == null) {
      return;
    }
    Set<Caller> now =
        present.compute(
            caller.client(),
            (client, before) -> {
              Set<Caller> all = before == null ? new HashSet<>() : new HashSet<>(before);
              if (all.stream().allMatch(each -> each.principal().equals(caller.principal()))) {
                all.add(caller);
              }
              return all;
            });
    if (!now.contains(caller)) {
      throw ErrorCode.UNAUTHENTICATED.exception("another user has this id of a client");
    }
    // The file may have changed before this caller could be found.
    String refusal = secrets.refusal(caller.key());
    if (refusal != null) {
      end(caller);
      throw ErrorCode.UNAUTHENTICATED.exception(refusal);
    }
  }

  /** Notes that a connection has ended. */
  public void end(Caller caller) {
    if (caller.key() == null) {
      return;
    }
    present.computeIfPresent(
        caller.client(),
        (client, before) -> {
          Set<Caller> all = new HashSet<>(before);
          all.remove(caller);
          return all.isEmpty() ? null : all;
        });
  }

  /** Ends the logins whose keys are no longer good. By the timer. */
  public void tick() {
    if (secrets == null || secrets.current() == known) {
      return;
    }
    Object now = secrets.current();
    for (Set<Caller> callers : present.values()) {
      for (Caller each : callers) {
        String refusal = secrets.refusal(each.key());
        if (refusal != null) {
          each.end(refusal);
        }
      }
    }
    known = now;
  }
}
