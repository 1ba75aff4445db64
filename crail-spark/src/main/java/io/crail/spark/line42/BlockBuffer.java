/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.spark.fetch.BlockData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/** A block as Spark wants it. Its memory goes back when the last user releases it. Thread-safe. */
final class BlockBuffer extends ManagedBuffer {
  private final BlockData data;
  private final AtomicInteger users = new AtomicInteger(1);

  BlockBuffer(BlockData data) {
    this.data = data;
  }

  @Override
  public long size() {
    return data.length();
  }

  @Override
  public ByteBuffer nioByteBuffer() throws IOException {
    return ByteBuffer.wrap(createInputStream().readAllBytes());
  }

  @Override
  public InputStream createInputStream() throws IOException {
    return data.open();
  }

  @Override
  public ManagedBuffer retain() {
    users.incrementAndGet();
    return this;
  }

  @Override
  public ManagedBuffer release() {
    if (users.decrementAndGet() == 0) {
      data.release();
    }
    return this;
  }

  @Override
  public Object convertToNetty() {
    throw new UnsupportedOperationException("a block that was fetched is not sent on");
  }

  @Override
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }
}
