/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.Digests;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.ProtocolError;
import io.crail.rpc.netty.RetargetableBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * What a host sends on a connection. Each slot has memory for the headers and digests of one
 * command and of its data, so the usual command allocates nothing. Used only in the loop.
 */
final class QueueOutput {
  /** The memory of a slot: a command's header, the header of its data, the digest of its data. */
  private static final int SLOT = 288;

  private static final int DATA_HEAD = 128;
  private static final int DIGEST = 256;

  /** Bytes that a command of the admin queue, or a connect, may carry along. */
  private static final int ADMIN_IN_CAPSULE = 8192;

  private static final int VERSION = 0;
  private static final int FLAG_SGL = 0x40;
  private static final int IN_CAPSULE = 0x01;
  private static final int BY_TRANSPORT = 0x5a;

  private final Channel channel;
  private final Digests digests;
  private final ByteBuf memory;
  private final ByteBuffer bytes;
  private final ByteBuffer checked;
  private final ByteBuffer[] views;
  private final RetargetableBuf[] commandHeads;
  private final RetargetableBuf[] dataHeads;
  private final RetargetableBuf[] data;
  private final RetargetableBuf[] digestParts;
  private final int[] pending;
  private final CRC32C crc = new CRC32C();
  private int alignment = 4;
  private int maxData;
  private int inCapsule = ADMIN_IN_CAPSULE;
  private boolean unflushed;

  QueueOutput(Channel channel, int slots, Digests digests) {
    this.channel = channel;
    this.digests = digests;
    int capacity = Math.max(Pdu.IC_LENGTH, slots * SLOT);
    this.memory = UnpooledByteBufAllocator.DEFAULT.directBuffer(capacity, capacity);
    // Padding must not reveal what was in the memory before.
    memory.setZero(0, capacity);
    this.bytes = memory.nioBuffer(0, capacity).order(ByteOrder.LITTLE_ENDIAN);
    this.checked = memory.nioBuffer(0, capacity);
    this.views = new ByteBuffer[3 * slots];
    for (int i = 0; i < views.length; i++) {
      views[i] = memory.nioBuffer(0, capacity);
    }
    this.commandHeads = windows(slots);
    this.dataHeads = windows(slots);
    this.data = windows(slots);
    this.digestParts = windows(slots);
    this.pending = new int[slots];
  }

  private static RetargetableBuf[] windows(int count) {
    RetargetableBuf[] windows = new RetargetableBuf[count];
    for (int i = 0; i < count; i++) {
      windows[i] = new RetargetableBuf();
    }
    return windows;
  }

  void release() {
    memory.release();
  }

  /** Sends ICReq. */
  void begin() {
    ByteBuf request = UnpooledByteBufAllocator.DEFAULT.directBuffer(Pdu.IC_LENGTH, Pdu.IC_LENGTH);
    request.writeZero(Pdu.IC_LENGTH);
    ByteBuffer out = request.nioBuffer(0, Pdu.IC_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    Pdu.header(out, 0, Pdu.IC_REQUEST, 0, Pdu.IC_LENGTH, 0, Pdu.IC_LENGTH);
    out.putShort(8, (short) VERSION);
    out.put(11, (byte) digestFlags());
    channel.writeAndFlush(request, channel.voidPromise());
  }

  private int digestFlags() {
    return (digests.header() ? Pdu.HEADER_DIGEST : 0) | (digests.data() ? Pdu.DATA_DIGEST : 0);
  }

  /** Takes what the controller says in ICResp. */
  void agreed(ByteBuffer in, int at) throws ProtocolError {
    int version = in.getShort(at + 8) & 0xffff;
    int flags = in.get(at + 11) & 0xff;
    long limit = in.getInt(at + 12) & 0xffffffffL;
    if (version != VERSION) {
      throw new ProtocolError("version " + version);
    }
    if (flags != digestFlags()) {
      throw new ProtocolError(
          "it does not use the digests that were asked for (header and data, see"
              + " crail.storage.nvmf.headerdigest and crail.storage.nvmf.datadigest)");
    }
    if (limit < Pdu.LEAST_DATA) {
      throw new ProtocolError("it takes " + limit + " bytes at once");
    }
    alignment = ((in.get(at + 10) & 0x1f) + 1) * 4;
    maxData = (int) Math.min(limit, Integer.MAX_VALUE) & -4;
  }

  void inCapsule(int most) {
    inCapsule = most;
  }

  void flush() {
    if (unflushed) {
      unflushed = false;
      channel.flush();
    }
  }

  /** True when the channel holds nothing of a slot. */
  boolean isIdle(int slot) {
    return pending[slot] == 0
        && commandHeads[slot].isIdle()
        && dataHeads[slot].isIdle()
        && data[slot].isIdle()
        && digestParts[slot].isIdle();
  }

  /** Keeps no memory of the user's for a slot, which is idle. */
  void letGo(int slot) {
    data[slot].letGo();
  }

  /** Sends a command, with its data when it may carry them along; returns how many bytes it did. */
  int command(int slot, int id, NvmeRequest request) {
    int at = slot * SLOT;
    int dataLength = request.length();
    boolean carries =
        request.direction() == NvmeRequest.Direction.TO_CONTROLLER && dataLength <= inCapsule;
    for (int i = 0; i < Pdu.COMMAND_LENGTH; i += Long.BYTES) {
      bytes.putLong(at + i, 0);
    }
    int entry = at + Pdu.COMMON;
    request.encode(bytes, entry);
    bytes.put(entry + 1, (byte) FLAG_SGL);
    bytes.putShort(entry + 2, (short) id);
    boolean none = request.direction() == NvmeRequest.Direction.NONE;
    bytes.putInt(entry + 32, none ? 0 : dataLength);
    bytes.put(entry + 39, (byte) (carries ? IN_CAPSULE : BY_TRANSPORT));
    int headLength = head(at, Pdu.COMMAND, 0, Pdu.COMMAND_LENGTH, carries ? dataLength : 0);
    commandHeads[slot].toSend(views[3 * slot], at, headLength);
    channel.write(commandHeads[slot].retain(), channel.voidPromise());
    unflushed = true;
    if (carries) {
      sendData(slot, request, 0, dataLength);
      return dataLength;
    }
    return 0;
  }

  /** Writes the common header, padding and the header digest; returns where the data begin. */
  private int head(int at, int type, int flags, int headerLength, int dataLength) {
    int digest = digests.header() ? Pdu.DIGEST_LENGTH : 0;
    int all = flags | (digest > 0 ? Pdu.HEADER_DIGEST : 0);
    int end = headerLength + digest;
    int length = end;
    int dataAt = 0;
    if (dataLength > 0) {
      dataAt = (end + alignment - 1) / alignment * alignment;
      length = dataAt + dataLength + (digests.data() ? Pdu.DIGEST_LENGTH : 0);
      all |= digests.data() ? Pdu.DATA_DIGEST : 0;
    }
    Pdu.header(bytes, at, type, all, headerLength, dataAt, length);
    if (digest > 0) {
      bytes.putInt(at + headerLength, Pdu.digest(crc, checked, at, headerLength));
      checked.clear();
    }
    return Math.max(end, dataAt);
  }

  private void sendData(int slot, NvmeRequest request, int offset, int length) {
    int from = request.offset() + offset;
    if (digests.data()) {
      // Before the window is pointed, since this moves position and limit of the view.
      int at = slot * SLOT + DIGEST;
      bytes.putInt(at, Pdu.digest(crc, request.view(), from, length));
      request.view().clear();
      digestParts[slot].toSend(views[3 * slot + 1], at, Pdu.DIGEST_LENGTH);
    }
    data[slot].toSend(request.view(), from, length);
    channel.write(data[slot].retain(), channel.voidPromise());
    if (digests.data()) {
      channel.write(digestParts[slot].retain(), channel.voidPromise());
    }
  }

  /** Sends data that the controller has asked for. The slot is idle. */
  void data(int slot, int id, NvmeRequest request, int tag, int offset, int length) {
    int first = Math.min(length, maxData);
    int at = slot * SLOT + DATA_HEAD;
    int headLength = dataHead(at, id, tag, offset, first, first == length);
    dataHeads[slot].toSend(views[3 * slot + 2], at, headLength);
    channel.write(dataHeads[slot].retain(), channel.voidPromise());
    sendData(slot, request, offset, first);
    for (int done = first; done < length; ) {
      int next = Math.min(length - done, maxData);
      sendMore(slot, id, request, tag, offset + done, next, done + next == length);
      done += next;
    }
    unflushed = true;
  }

  private int dataHead(int at, int id, int tag, int offset, int length, boolean last) {
    for (int i = 0; i < Pdu.DATA_LENGTH; i += Long.BYTES) {
      bytes.putLong(at + i, 0);
    }
    Pdu.data(bytes, at, id, tag, offset, length);
    return head(at, Pdu.DATA_TO_CONTROLLER, last ? Pdu.LAST : 0, Pdu.DATA_LENGTH, length);
  }

  /** Sends a further part; rare, since controllers take much at once. */
  private void sendMore(
      int slot, int id, NvmeRequest request, int tag, int offset, int length, boolean last) {
    int at = slot * SLOT + DATA_HEAD;
    ByteBuffer kept = bytes.slice(at, DIGEST - DATA_HEAD).duplicate();
    byte[] before = new byte[kept.remaining()];
    kept.get(before);
    int headLength = dataHead(at, id, tag, offset, length, last);
    byte[] head = new byte[headLength];
    bytes.get(at, head);
    // The first part may not have left yet.
    bytes.put(at, before);
    write(slot, UnpooledByteBufAllocator.DEFAULT.directBuffer(headLength).writeBytes(head));
    ByteBuffer part = request.view().duplicate();
    int from = request.offset() + offset;
    int digest = digests.data() ? Pdu.digest(crc, part, from, length) : 0;
    RetargetableBuf window = new RetargetableBuf();
    window.toSend(part.clear(), from, length);
    write(slot, window.retain());
    if (digests.data()) {
      write(slot, UnpooledByteBufAllocator.DEFAULT.directBuffer(4).writeIntLE(digest));
    }
  }

  private void write(int slot, ByteBuf part) {
    pending[slot]++;
    channel.write(part).addListener((ChannelFuture sent) -> pending[slot]--);
  }
}
