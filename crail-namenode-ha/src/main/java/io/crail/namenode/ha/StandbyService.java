/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.AskPeer;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;

/**
 * What a peer answers that does not lead: clients have to ask others, and other peers learn what it
 * has.
 */
record StandbyService(Answerer answers) implements Service {
  /** Answers other peers. */
  @FunctionalInterface
  interface Answerer {
    AskPeer.Response answer(AskPeer.Request request) throws CrailException;
  }

  @Override
  public void serve(RequestBatch batch, ResponseWriter responses) throws CrailException {
    for (int i = 0; i < batch.count(); i++) {
      if (responses.isFull()) {
        batch.giveBackFrom(i);
        return;
      }
      long correlationId = batch.correlationId(i);
      if (batch.opcode(i) == NameNodeOperations.ASK_PEER.number()) {
        AskPeer.Request request =
            AskPeer.Request.CODEC.decode(batch.buffer(), batch.bodyOffset(i), batch.bodyLength(i));
        answer(request, correlationId, responses);
      } else {
        responses.fail(correlationId, ErrorCode.STANDBY, "another peer of this namenode serves");
      }
    }
  }

  private void answer(AskPeer.Request request, long correlationId, ResponseWriter responses) {
    AskPeer.Response answer;
    try {
      answer = answers.answer(request);
    } catch (CrailException e) {
      responses.fail(correlationId, e.code(), e.detail());
      return;
    }
    int length = AskPeer.Response.CODEC.length(answer);
    int body = responses.begin(length);
    AskPeer.Response.CODEC.encode(answer, responses.buffer(), body);
    responses.end(correlationId, length);
  }
}
