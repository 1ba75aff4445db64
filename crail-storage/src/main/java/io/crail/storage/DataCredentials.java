/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Credentials;
import java.util.UUID;

/** What a client logs in with at datanodes. Thread-safe. */
@FunctionalInterface
public interface DataCredentials {
  /** Proves nothing to any datanode. */
  DataCredentials ANYBODY = (datanode, once) -> Anybody.CREDENTIALS;

  /**
   * What it logs in with at one datanode.
   *
   * @param datanode the datanode process
   * @param once whether the login has one message, as over RDMA and on the host
   */
  Credentials at(UUID datanode, boolean once);
}
