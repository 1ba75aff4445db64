/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;

/** The bytes of records, for who hands them on without reading them. */
public final class RecordBytes extends Codec<ByteBuffer> {
  /** The codec: all that a buffer has left. */
  public static final RecordBytes CODEC = new RecordBytes();

  /** The kind of a record that changes nothing. It has no bytes. */
  public static final int NOTHING = 68;

  private RecordBytes() {
    super(ByteBuffer.class, Layout.of("RecordBytes"));
  }

  /** Appends a record that changes nothing. */
  public static void appendNothing(RecordTarget target) {
    target.append(NOTHING, CODEC, ByteBuffer.allocate(0));
  }

  @Override
  public int length(ByteBuffer record) {
    return record.remaining();
  }

  @Override
  public void encode(ByteBuffer record, ByteBuffer out, int offset) {
    out.put(offset, record, record.position(), record.remaining());
  }

  @Override
  public ByteBuffer read(ByteBuffer in, int offset) {
    return in.slice(offset, in.limit() - offset);
  }
}
