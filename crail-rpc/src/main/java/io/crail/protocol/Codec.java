/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.CrailException;
import java.nio.ByteBuffer;

/**
 * How a message becomes bytes and back, by its {@link Layout}. Stateless and thread-safe. Buffers
 * are little-endian and accessed at absolute offsets.
 *
 * @param <T> the message, a record
 */
public abstract class Codec<T> {
  private final Layout layout;

  /** Creates a codec for messages of this layout. */
  protected Codec(Layout layout) {
    this.layout = layout;
  }

  /** The layout. */
  public final Layout layout() {
    return layout;
  }

  /** Bytes of this message, exactly. */
  public int length(T message) {
    return layout.fixedLength();
  }

  /** Writes a message. */
  public abstract void encode(T message, ByteBuffer out, int offset);

  /** Reads a message whose lengths have been checked. */
  protected abstract T read(ByteBuffer in, int offset) throws CrailException;

  /**
   * Checks and reads a message.
   *
   * @throws CrailException with {@code PROTOCOL} when the bytes are no such message
   */
  public final T decode(ByteBuffer in, int offset, int length) throws CrailException {
    layout.check(in, offset, length);
    return read(in, offset);
  }
}
