/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.storage.StorageClient;
import io.crail.storage.network.DataHello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * A client's half of the handshake of one data connection: the frames that it sends. Each has the
 * correlation id 0. Used only in the loop.
 */
final class ClientHandshake {
  /** The correlation id. */
  static final long ID = 0;

  private final UUID datanode;
  private final long clientId;
  private final ClientLogin login;

  /**
   * Begins the handshake with a datanode process.
   *
   * @throws CrailException when there is no first message
   */
  ClientHandshake(StorageClient.Context context, UUID datanode) throws CrailException {
    this.datanode = datanode;
    this.clientId = context.clientId();
    this.login =
        new ClientLogin(context.credentials().at(datanode, false), Claim.ofClient(clientId));
  }

  /** The first frame. */
  ByteBuf hello() {
    DataHello.Request hello = DataHello.request(datanode, clientId, login);
    return frame(DataNodeOperations.HELLO.number(), DataHello.Request.CODEC, hello);
  }

  /**
   * The frame after a good answer; null when the handshake is done.
   *
   * @throws CrailException when the datanode has not proved what it must
   */
  ByteBuf next(DataHello.Response answer) throws CrailException {
    login.answered(answer.more(), answer.message().bytes());
    if (!answer.more()) {
      return null;
    }
    Login.Request message = new Login.Request(SmallValue.of(login.message()));
    return frame(DataNodeOperations.LOGIN.number(), Login.Request.CODEC, message);
  }

  private static <T> ByteBuf frame(int opcode, Codec<T> codec, T message) {
    int length = Frame.HEADER_LENGTH + codec.length(message);
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(bytes, 0, length, opcode, Frame.KIND_REQUEST, ID);
    codec.encode(message, bytes, Frame.HEADER_LENGTH);
    return Unpooled.wrappedBuffer(bytes);
  }
}
