/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Memory;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.common.ByteText;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.apache.hadoop.fs.FSDataInputStream;

/** Reads one file through one stream, in order or at random positions. */
final class HadoopRead implements Workload {
  private static final int TOUCH_SIZE = 1 << 20;

  private final HadoopTarget target;
  private final boolean random;
  private final boolean direct;
  private long length;

  /** Creates the workload. */
  HadoopRead(HadoopTarget target, boolean random, boolean direct) {
    this.target = target;
    this.random = random;
    this.direct = direct;
  }

  @Override
  public void prepare() throws Exception {
    BenchOptions<HadoopType> options = target.options();
    length = target.requireFile(options.loop() * options.size());
    if (options.touch()) {
      long bytes = Math.min(buffers(), options.loop()) * options.size();
      target.notice("touching memory: reading " + ByteText.of(bytes) + " once, not counted");
      touch(bytes);
    }
    if (options.warmUp() > 0) {
      run(options.warmUp(), new Recorder(System::nanoTime));
    }
  }

  private void touch(long bytes) throws IOException {
    byte[] memory = new byte[TOUCH_SIZE];
    try (FSDataInputStream stream = target.fileSystem().open(target.path())) {
      for (long left = bytes; left > 0; left -= memory.length) {
        stream.readFully(memory, 0, (int) Math.min(left, memory.length));
      }
    }
  }

  /** How many buffers of the operation's size the file fills. */
  private long buffers() {
    return length / target.options().size();
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    try (FSDataInputStream stream = target.fileSystem().open(target.path())) {
      int size = target.options().size();
      byte[] heap = direct ? null : Memory.heap(size);
      ByteBuffer memory = direct ? Memory.direct(size) : null;
      SplittableRandom positions = new SplittableRandom(target.options().seed());
      long left = buffers();
      long issued = recorder.begin();
      for (long i = 0; i < operations; i++) {
        if (random) {
          readAt(stream, positions.nextLong(buffers()) * size, heap, memory);
        } else {
          if (left-- == 0) {
            stream.seek(0);
            left = buffers() - 1;
          }
          readNext(stream, heap, memory);
        }
        long completed = recorder.now();
        recorder.operation(issued, completed, size);
        issued = completed;
      }
      recorder.end();
    } catch (UnsupportedOperationException e) {
      throw new BenchException(
          target.path() + " cannot be read into direct buffers; take a type of the heap");
    } catch (EOFException e) {
      throw new BenchException(
          target.path()
              + " became shorter than "
              + length
              + " bytes; has another client changed it?");
    }
  }

  private static void readAt(
      FSDataInputStream stream, long position, byte[] heap, ByteBuffer memory) throws IOException {
    if (heap != null) {
      stream.readFully(position, heap, 0, heap.length);
    } else {
      stream.readFully(position, memory.clear());
    }
  }

  private static void readNext(FSDataInputStream stream, byte[] heap, ByteBuffer memory)
      throws IOException {
    if (heap != null) {
      stream.readFully(heap, 0, heap.length);
      return;
    }
    memory.clear();
    while (memory.hasRemaining()) {
      if (stream.read(memory) < 0) {
        throw new EOFException();
      }
    }
  }
}
