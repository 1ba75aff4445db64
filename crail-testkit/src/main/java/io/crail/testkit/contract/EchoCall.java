/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import java.nio.ByteBuffer;

/** A call of {@link EchoService}. */
public final class EchoCall extends RpcCall {
  private final int opcode;
  private final byte[] request;
  private final boolean changes;
  private byte[] answer;

  private EchoCall(RpcPeer peer, int opcode, byte[] request, boolean changes, long deadline) {
    this.opcode = opcode;
    this.request = request;
    this.changes = changes;
    prepare(peer, deadline);
  }

  /** A call that changes nothing, and may be sent again. */
  public static EchoCall of(RpcPeer peer, int opcode, byte[] request, long timeoutNanos) {
    return new EchoCall(peer, opcode, request, false, deadline(peer, timeoutNanos));
  }

  /**
   * A call that changes something. The service remembers no answers and says so when it is greeted,
   * so such a call is not sent twice.
   */
  public static EchoCall once(RpcPeer peer, int opcode, byte[] request, long timeoutNanos) {
    return new EchoCall(peer, opcode, request, true, deadline(peer, timeoutNanos));
  }

  /** Makes the call ready for its next use. */
  public EchoCall again(long timeoutNanos) {
    prepare(peer(), deadline(peer(), timeoutNanos));
    return this;
  }

  private static long deadline(Peer peer, long timeoutNanos) {
    return peer.loop().clock().nanoTime() + timeoutNanos;
  }

  /** The body that was sent. */
  public byte[] request() {
    return request;
  }

  /** The body that came back. */
  public byte[] answer() {
    return answer;
  }

  @Override
  protected int opcode() {
    return opcode;
  }

  @Override
  protected boolean changes() {
    return changes;
  }

  @Override
  protected int bodyLength() {
    return request.length;
  }

  @Override
  protected void encode(ByteBuffer out, int offset) {
    out.put(offset, request);
  }

  @Override
  protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
    if (opcode == EchoService.TRUNCATE && length != request.length) {
      throw ErrorCode.PROTOCOL.exception("an answer of " + length + " bytes");
    }
    if (opcode == EchoService.HELLO) {
      ((RpcPeer) peer()).serverHasForgotten();
    }
    answer = new byte[length];
    in.get(offset, answer);
  }
}
