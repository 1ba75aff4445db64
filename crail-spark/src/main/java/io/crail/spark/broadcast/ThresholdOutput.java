/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Supplier;

/**
 * Keeps the bytes in memory until there are so many that they are worth a stream. Used by one
 * thread.
 */
final class ThresholdOutput extends OutputStream {
  private final long threshold;
  private final Supplier<OutputStream> target;
  private ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private OutputStream out;

  /**
   * Creates it.
   *
   * @param threshold from how many bytes on all go to the target
   * @param target opens the stream; called once at most
   */
  ThresholdOutput(long threshold, Supplier<OutputStream> target) {
    this.threshold = threshold;
    this.target = target;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) throws IOException {
    if (out == null && kept.size() + (long) length < threshold) {
      kept.write(source, offset, length);
      return;
    }
    if (out == null) {
      out = target.get();
      kept.writeTo(out);
      kept = null;
    }
    out.write(source, offset, length);
  }

  @Override
  public void flush() throws IOException {
    if (out != null) {
      out.flush();
    }
  }

  @Override
  public void close() throws IOException {
    if (out != null) {
      out.close();
    }
  }
}
