/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;

/** What a peer answers that does not lead: that others have to be asked. */
final class StandbyService implements Service {
  @Override
  public void serve(RequestBatch batch, ResponseWriter responses) {
    for (int i = 0; i < batch.count(); i++) {
      if (responses.isFull()) {
        batch.giveBackFrom(i);
        return;
      }
      responses.fail(
          batch.correlationId(i), ErrorCode.STANDBY, "another peer of this namenode serves");
    }
  }
}
