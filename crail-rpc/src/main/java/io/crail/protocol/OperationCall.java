/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Addresses;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import java.nio.ByteBuffer;
import java.util.function.UnaryOperator;

/**
 * A call of an operation of the table: the client's stub for all of them. Made for one use, or
 * reused with {@link #prepare(RpcPeer, Object, long)}.
 *
 * @param <Q> the request
 * @param <R> the response
 */
public class OperationCall<Q, R> extends RpcCall implements RoutedCall {
  private final Operation<Q, R> operation;
  private Q request;
  private R response;

  /** Creates a call; {@code prepare} follows. */
  public OperationCall(Operation<Q, R> operation) {
    this.operation = operation;
  }

  /** Sets peer, request and deadline of the next use; {@link #submit()} follows. */
  public final void prepare(RpcPeer peer, Q newRequest, long deadlineNanos) {
    prepare(peer, deadlineNanos);
    this.request = newRequest;
    this.response = null;
  }

  /** The operation. */
  public final Operation<Q, R> operation() {
    return operation;
  }

  /** The answer, once this has succeeded. */
  public final R response() {
    return response;
  }

  /**
   * Waits for the answer; the deadline of the call ends the wait.
   *
   * @throws CrailException as the server answered, or when it did not
   * @throws InterruptedException when the thread is interrupted
   */
  public final R join() throws CrailException, InterruptedException {
    // The sweep ends the call at its deadline. The longer wait covers a loop that was closed in the
    // meantime.
    long patience = deadlineNanos() + 1_000_000_000L;
    if (!peer().loop().await(this, patience)) {
      throw io.crail.common.error.ErrorCode.TIMED_OUT.exception(
          operation + " at " + Addresses.text(peer().address()));
    }
    CrailException failure = failure();
    if (failure != null) {
      throw failure.rethrown();
    }
    return response;
  }

  @Override
  public final Utf8 path() {
    return operation.routing().path(request);
  }

  @Override
  public final void route(UnaryOperator<Utf8> form) {
    request = operation.routing().by().apply(request, form);
  }

  @Override
  protected final int opcode() {
    return operation.number();
  }

  @Override
  protected final boolean changes() {
    return operation.changes();
  }

  @Override
  protected final int bodyLength() {
    return operation.request().length(request);
  }

  @Override
  protected final void encode(ByteBuffer out, int offset) {
    operation.request().encode(request, out, offset);
  }

  @Override
  protected final void decode(ByteBuffer in, int offset, int length) throws CrailException {
    response = operation.response().decode(in, offset, length);
    answered();
  }

  /**
   * Called in the loop when the answer has been read, before any other thread can see that the call
   * has ended.
   */
  protected void answered() {}
}
