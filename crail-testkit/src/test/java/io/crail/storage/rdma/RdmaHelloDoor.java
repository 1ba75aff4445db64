/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.UUID;

/** Lets the fuzzer in, which is in another package. */
public final class RdmaHelloDoor {
  private RdmaHelloDoor() {}

  /** See {@link RdmaHello}. */
  public static ErrorCode check(ByteBuffer privateData, UUID own) {
    return RdmaHello.check(privateData, own);
  }

  /** See {@link RdmaHello}. */
  public static ErrorCode answer(ByteBuffer privateData) {
    return RdmaHello.answer(privateData);
  }

  /** See {@link RdmaHello}. */
  public static ByteBuffer request(UUID uuid, long clientId) {
    return RdmaHello.request(uuid, clientId);
  }

  /** See {@link RdmaHello}. */
  public static ByteBuffer response(ErrorCode code) {
    return RdmaHello.response(code);
  }
}
