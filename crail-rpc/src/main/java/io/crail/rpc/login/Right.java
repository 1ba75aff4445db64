/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import java.util.Set;

/** What a caller may ask for. Today every caller has all rights. */
public enum Right {
  /** To use the store: nodes and their bytes. */
  USE,
  /** To lend space, as datanodes do. */
  LEND,
  /** To operate the cluster: drains, moves, reports. */
  OPERATE;

  /** All rights. */
  public static final Set<Right> ALL = Set.of(values());
}
