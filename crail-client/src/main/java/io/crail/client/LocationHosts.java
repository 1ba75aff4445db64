/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailLocationClass;
import io.crail.client.loop.Loops;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.node.Create;
import io.crail.storage.DatanodeDescription;
import java.util.concurrent.atomic.AtomicReference;

/** The hosts that location classes mean: this host, and the hosts of the datanodes known here. */
final class LocationHosts {
  private final CrailLocationClass own;
  private final Loops loops;

  LocationHosts(String host, Loops loops) {
    this.own = CrailLocationClass.of(host);
    this.loops = loops;
  }

  /** The location class of this host. */
  CrailLocationClass own() {
    return own;
  }

  /**
   * The host of a location class, as it travels.
   *
   * @throws CrailException with INVALID_ARGUMENT when no host of that class is known here
   */
  Utf8 hostOf(CrailLocationClass wanted) throws CrailException {
    if (wanted.value() == CrailLocationClass.PARENT.value()) {
      return Create.PARENT_HOST;
    }
    if (wanted.host() != null) {
      return Utf8.of(wanted.host());
    }
    if (wanted.equals(own)) {
      return Utf8.of(own.host());
    }
    AtomicReference<Utf8> found = new AtomicReference<>();
    loops.forEach(
        context -> {
          for (DatanodeDescription datanode : context.endpoints().known()) {
            String host = datanode.address().getHostString();
            if (CrailLocationClass.of(host).equals(wanted)) {
              found.compareAndSet(null, Utf8.of(host));
            }
          }
        });
    if (found.get() == null) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "location class "
              + wanted
              + " is of no host known here; use CrailLocationClass.of(host)");
    }
    return found.get();
  }
}
