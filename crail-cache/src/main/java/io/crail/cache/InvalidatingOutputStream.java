/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;

/**
 * The source's stream, which makes the cache forget the file whenever readers may see more of it.
 * All that the source's stream can do passes through. As thread-safe as that one.
 */
final class InvalidatingOutputStream extends FSDataOutputStream {
  private final Runnable changed;

  /**
   * Wraps a stream.
   *
   * @param changed forgets the file
   */
  InvalidatingOutputStream(FSDataOutputStream source, Runnable changed) throws IOException {
    super(source, null, source.getPos());
    this.changed = changed;
  }

  @Override
  public void hflush() throws IOException {
    try {
      super.hflush();
    } finally {
      changed.run();
    }
  }

  @Override
  public void hsync() throws IOException {
    try {
      super.hsync();
    } finally {
      changed.run();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      super.close();
    } finally {
      changed.run();
    }
  }
}
