/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import java.util.EnumSet;
import java.util.Set;

/** What a caller may ask for. Each operation names the right that it needs. */
public enum Right {
  /** Nothing but to have logged in, or to be about to. Every caller has it. */
  ANY,
  /** To use the store: nodes and their bytes. */
  USE,
  /** To lend space, as datanodes do. */
  LEND,
  /** To keep shares of directories together with other namenodes. */
  SHARE,
  /** To operate the cluster: drains, moves, reports on all users. */
  OPERATE;

  /** All rights. */
  public static final Set<Right> ALL = Set.copyOf(EnumSet.allOf(Right.class));

  /** The rights of a part in a cluster, where all who take it are trusted alike. */
  public static Set<Right> of(Principal.Role role) {
    return switch (role) {
      case DATANODE -> Set.of(ANY, LEND);
      case NAMENODE -> ALL;
      case CLIENT, ANYBODY -> Set.of(ANY, USE, OPERATE);
    };
  }
}
