/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.common.error.CrailException;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaException;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.rpc.rdma.RdmaSettings;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A queue pair without manners: sends any bytes, and keeps what comes. */
public final class RawPeer implements RdmaLoop.ConnectListener, QueuePair.Handler {
  static final int MESSAGE = 8192;
  private static final int SLOTS = 64;
  private static final int SENDS = 1 << 20;

  /** So often both devices repeat what is not acknowledged, for a server is not asked. */
  private static final int RETRIES = 3;

  final Queue<byte[]> received = new ConcurrentLinkedQueue<>();
  volatile String end;
  volatile boolean connected;
  private final ClientLoop loop;
  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(2 * SLOTS * MESSAGE).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer request =
      ByteBuffer.allocateDirect(Layouts.SEND_WR_SIZE + Layouts.SGE_SIZE)
          .order(ByteOrder.nativeOrder());
  private RegisteredMemory region;
  private QueuePair pair;
  private int sent;

  /** Creates it, on a loop that the caller drives. */
  public RawPeer(ClientLoop loop) {
    this.loop = loop;
  }

  /** What Crail's own clients say when they connect. */
  static ByteBuffer greeting(int version, int messageSize, int receives) {
    return ByteBuffer.allocate(16)
        .putInt(0x43726169)
        .putInt(version)
        .putInt(messageSize)
        .putInt(receives)
        .flip();
  }

  /** A message with one frame. */
  static byte[] message(int header, int code, int kind, long id, byte[] body) {
    int length = Frame.HEADER_LENGTH + body.length;
    ByteBuffer message = ByteBuffer.allocate(4 + length).putInt(header);
    Frame.write(message.order(ByteOrder.LITTLE_ENDIAN), 4, length, code, kind, id);
    return message.put(4 + Frame.HEADER_LENGTH, body).array();
  }

  /** Connects, with these private data, or none where they are null. */
  public void connect(InetSocketAddress to, ByteBuffer privateData) {
    connect(to, privateData, RETRIES);
  }

  void connect(InetSocketAddress to, ByteBuffer privateData, int retries) {
    loop.submit(
        () -> {
          try {
            RdmaLoop.of(loop, new RdmaSettings(0, 4096, retries, 16))
                .connect(
                    to,
                    loop.clock().nanoTime() + 20_000_000_000L,
                    new QueuePair.Options(SLOTS, SLOTS, 1, 0, 0),
                    privateData,
                    this);
          } catch (CrailException e) {
            end = e.getMessage();
          }
        });
  }

  /** Sends a message, unless the connection has ended. */
  public void send(byte[] message) {
    loop.submit(
        () -> {
          if (end == null) {
            int slot = SLOTS + sent++ % SLOTS;
            memory.put(slot * MESSAGE, message);
            lay(SENDS, slot, message.length);
            request.putInt(Layouts.SEND_WR_OPCODE, Layouts.OPCODE_SEND);
            request.putInt(Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
            pair.post(Verbs.addressOf(request));
          }
        });
  }

  /** Whether it was accepted. */
  public boolean isConnected() {
    return connected;
  }

  /** Why the connection has ended, or was refused; null before. */
  public String end() {
    return end;
  }

  void close() {
    loop.submit(
        () -> {
          if (pair != null) {
            pair.close("closed by the test");
          }
        });
  }

  private void receive(int slot) {
    lay(0, slot, MESSAGE);
    pair.postReceive(Verbs.addressOf(request));
  }

  private void lay(int base, int slot, int length) {
    int element = Layouts.SEND_WR_SIZE;
    request.putLong(Layouts.WR_ID, pair.wrId(base + slot)).putLong(Layouts.WR_NEXT, 0);
    request.putLong(Layouts.WR_SGES, Verbs.addressOf(request) + element);
    request.putInt(Layouts.WR_SGE_COUNT, 1);
    request.putLong(element + Layouts.SGE_ADDRESS, region.address() + (long) slot * MESSAGE);
    request.putInt(element + Layouts.SGE_LENGTH, length);
    request.putInt(element + Layouts.SGE_LKEY, region.lkey());
  }

  @Override
  public QueuePair.Handler created(QueuePair newPair) {
    pair = newPair;
    try {
      region = pair.device().register(memory, Layouts.ACCESS_LOCAL_WRITE);
    } catch (RdmaException e) {
      throw new IllegalStateException(e);
    }
    for (int slot = 0; slot < SLOTS; slot++) {
      receive(slot);
    }
    return this;
  }

  @Override
  public void connected(QueuePair newPair, ByteBuffer peerData) {
    connected = true;
  }

  @Override
  public void failed(String cause, ByteBuffer peerData) {
    end = cause;
  }

  @Override
  public void completed(int number, int opcode, int bytes) {
    if (number < SENDS) {
      byte[] message = new byte[bytes];
      memory.get(number * MESSAGE, message);
      received.add(message);
      receive(number);
    }
  }

  @Override
  public void failed(int number, int status, String text) {}

  @Override
  public void closed(String cause) {
    region.close();
    end = cause;
  }
}
