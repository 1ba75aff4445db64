/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * What a target sends on a connection: units with their digests. It sends what the test wants,
 * right or wrong. Used only in the thread of the connection.
 */
public final class TargetWire {
  /** Flag of data: no more follow. */
  public static final int LAST = 4;

  /** Flag of data: the command has ended well. */
  public static final int SUCCESS = 8;

  private final NvmeTarget target;
  private final OutputStream out;
  private boolean headerDigest;
  private boolean dataDigest;

  /** What leaves together; null when each unit leaves by itself. */
  private ByteArrayOutputStream held;

  TargetWire(NvmeTarget target, OutputStream out) {
    this.target = target;
    this.out = out;
  }

  static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static int crc(byte[] bytes, int at, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, at, length);
    return (int) crc.getValue();
  }

  /** Answers the first unit of a host. */
  void greet(boolean header, boolean data) throws IOException {
    headerDigest = header;
    dataDigest = data;
    ByteBuffer answer = little(new byte[128]);
    answer.put(0, (byte) 1).put(2, (byte) 128).putInt(4, 128);
    answer.put(10, (byte) (target.options().alignment / 4 - 1));
    answer.put(11, (byte) ((headerDigest ? 1 : 0) | (dataDigest ? 2 : 0)));
    answer.putInt(12, target.options().maxData);
    out.write(answer.array());
  }

  /** Asks for data of a command (R2T). */
  public void ready(int id, int tag, int offset, int length) throws IOException {
    ready(id, tag, offset, length, Fate.NORMAL);
  }

  void ready(int id, int tag, int offset, int length, Fate fate) throws IOException {
    ByteBuffer head = unit(0x09, id, offset, length);
    head.putShort(10, (short) tag);
    send(head, null, fate);
  }

  /**
   * Sends data of a command (C2HData).
   *
   * @param told how many it says that there are
   */
  public void data(int id, int flags, int offset, int told, byte[] bytes) throws IOException {
    data(id, flags, offset, told, bytes, Fate.NORMAL);
  }

  void data(int id, int flags, int offset, int told, byte[] bytes, Fate fate) throws IOException {
    send(unit(0x07, id, offset, told).put(1, (byte) flags), bytes, fate);
  }

  /** Ends a command. */
  public void completion(int id, int status, long result) throws IOException {
    completion(id, status, result, Fate.NORMAL);
  }

  void completion(int id, int status, long result, Fate fate) throws IOException {
    ByteBuffer answer = unit(0x05, 0, 0, 0);
    answer.putLong(8, result).putShort(20, (short) id).putShort(22, (short) (status << 1));
    send(answer, null, fate);
  }

  /** Sends any bytes. */
  public void bytes(byte[] bytes) throws IOException {
    (held == null ? out : held).write(bytes);
  }

  /** Keeps what is sent, so that it reaches the host in one piece. */
  public void hold() {
    held = new ByteArrayOutputStream();
  }

  /** Lets leave what was kept. */
  public void release() throws IOException {
    byte[] all = held.toByteArray();
    held = null;
    out.write(all);
  }

  private static ByteBuffer unit(int type, int id, int offset, int length) {
    ByteBuffer unit = little(new byte[24]);
    unit.put(0, (byte) type).put(2, (byte) unit.capacity());
    return unit.putShort(8, (short) id).putInt(12, offset).putInt(16, length);
  }

  private void send(ByteBuffer head, byte[] data, Fate fate) throws IOException {
    int headLength = head.capacity() + (headerDigest ? 4 : 0);
    int digest = data != null && dataDigest ? 4 : 0;
    int length = headLength + (data == null ? 0 : data.length) + digest;
    head.put(1, (byte) (head.get(1) | (headerDigest ? 1 : 0) | (digest > 0 ? 2 : 0)));
    head.put(3, (byte) (data == null ? 0 : headLength)).putInt(4, length);
    ByteBuffer unit = little(new byte[length]);
    unit.put(head.array());
    if (headerDigest) {
      unit.putInt(crc(head.array(), 0, head.capacity()));
    }
    if (data != null) {
      unit.put(data);
      if (digest > 0) {
        unit.putInt(crc(data, 0, data.length));
      }
    }
    byte[] bytes = unit.array();
    if (fate == Fate.DAMAGED_DATA && data != null) {
      bytes[headLength + data.length / 2] ^= 4;
    } else if (fate == Fate.DAMAGED_HEADER) {
      target.damage(bytes, headLength);
    }
    if (fate == Fate.CLOSE_WITHIN) {
      out.write(bytes, 0, bytes.length / 2);
      throw new IOException("as planned");
    }
    bytes(bytes);
  }
}
