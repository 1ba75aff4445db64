/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.cluster.Lead;

/** How the peers of a namenode stand. Thread-safe. */
@FunctionalInterface
public interface Leadership {
  /** That of a namenode without standbys. */
  Leadership ALONE =
      request -> {
        throw ErrorCode.UNSUPPORTED.exception("this namenode has no standbys");
      };

  /**
   * Says how the peers stand. Another one takes over soon if the request names it.
   *
   * @throws CrailException when there is no such peer
   */
  Lead.Response lead(Lead.Request request) throws CrailException;

  /**
   * Answers another peer. Takes it in if it has lost its directory.
   *
   * @throws CrailException when there is no such peer
   */
  default AskPeer.Response ask(AskPeer.Request request) throws CrailException {
    throw ErrorCode.UNSUPPORTED.exception("this namenode has no standbys");
  }
}
