/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailResult;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Pipeline;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import io.crail.bench.run.Preparation;
import io.crail.common.ByteText;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.Future;

/**
 * Reads one file through one stream, a buffer at a time: one after the other, again from the start
 * when less than a buffer is left; or from random positions that are multiples of the size.
 */
public final class StreamRead implements Workload {
  private final BenchRun run;
  private final boolean isRandom;
  private final boolean inFlight;
  private CrailFile file;

  private StreamRead(BenchRun run, boolean isRandom, boolean inFlight) {
    this.run = run;
    this.isRandom = isRandom;
    this.inFlight = inFlight;
  }

  /** Reads in order. */
  public static StreamRead sequential(BenchRun run) {
    return new StreamRead(run, false, false);
  }

  /** Reads in order through a direct stream, with several buffers in flight. */
  public static StreamRead sequentialAsync(BenchRun run) {
    return new StreamRead(run, false, true);
  }

  /** Reads from random positions. */
  public static StreamRead random(BenchRun run) {
    return new StreamRead(run, true, false);
  }

  /** Reads from random positions through a direct stream, with several buffers in flight. */
  public static StreamRead randomAsync(BenchRun run) {
    return new StreamRead(run, true, true);
  }

  @Override
  public void prepare() throws Exception {
    BenchOptions<?> options = run.options();
    file = run.openForReading(options.loop() * options.size());
    if (options.touch()) {
      long buffers = file.getCapacity() / options.size();
      long bytes = Math.min(buffers, options.loop()) * options.size();
      run.notice("touching memory: reading " + ByteText.of(bytes) + " once, not counted");
      touch(bytes);
    }
    if (options.warmUp() > 0) {
      run(options.warmUp(), new Recorder(System::nanoTime));
    }
  }

  /** Reads all bytes once, with large buffers, so that this is quick for any operation size. */
  private void touch(long bytes) throws Exception {
    CrailInputStream stream = file.getDirectInputStream(bytes);
    CrailBuffer buffer = run.newTouchBuffer();
    try (Preparation preparation = run.preparation("reading", bytes)) {
      while (stream.position() < bytes) {
        long length = Pipeline.await(stream.read(buffer.clear())).getLen();
        if (length <= 0) {
          throw new BenchException(run.options().path() + " became shorter");
        }
        preparation.moved(length);
      }
    } finally {
      stream.close();
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    long hint = Math.min(file.getCapacity(), operations * run.options().size());
    if (run.options().buffered() && !inFlight) {
      try (CrailBufferedInputStream stream = file.getBufferedInputStream(hint)) {
        recorder.begin();
        read(stream, operations, recorder);
        recorder.end();
      }
      return;
    }
    CrailInputStream stream = file.getDirectInputStream(hint);
    try {
      recorder.begin();
      if (inFlight) {
        CrailBuffer[] buffers = run.newBuffers();
        new Pipeline<>(buffers.length, new Reading(stream, buffers)).run(operations, recorder);
      } else {
        read(stream, operations, recorder);
      }
      recorder.end();
    } finally {
      stream.close();
    }
  }

  private void read(CrailBufferedInputStream stream, long operations, Recorder recorder)
      throws Exception {
    ByteBuffer memory = run.newBuffer().getByteBuffer();
    Positions positions = new Positions();
    long issued = recorder.now();
    for (long i = 0; i < operations; i++) {
      long position = positions.next();
      if (position >= 0) {
        stream.seek(position);
      }
      memory.clear();
      long length = whole(stream.read(memory));
      long completed = recorder.now();
      recorder.operation(issued, completed, length);
      issued = completed;
    }
  }

  private void read(CrailInputStream stream, long operations, Recorder recorder) throws Exception {
    CrailBuffer buffer = run.newBuffer();
    Positions positions = new Positions();
    long issued = recorder.now();
    for (long i = 0; i < operations; i++) {
      long position = positions.next();
      if (position >= 0) {
        stream.seek(position);
      }
      long length = whole(Pipeline.await(stream.read(buffer.clear())).getLen());
      long completed = recorder.now();
      recorder.operation(issued, completed, length);
      issued = completed;
    }
  }

  private final class Reading implements Pipeline.Operation<CrailResult> {
    private final CrailInputStream stream;
    private final CrailBuffer[] buffers;
    private final Positions positions = new Positions();

    Reading(CrailInputStream stream, CrailBuffer[] buffers) {
      this.stream = stream;
      this.buffers = buffers;
    }

    @Override
    public Future<CrailResult> issue(int slot) throws Exception {
      long position = positions.next();
      if (position >= 0) {
        stream.seek(position);
      }
      return stream.read(buffers[slot].clear());
    }

    @Override
    public long complete(CrailResult result, int slot) throws BenchException {
      return whole(result.getLen());
    }
  }

  /** Where the reads begin. */
  private final class Positions {
    private final int size = run.options().size();

    /** How many buffers of the operation's size the file fills. */
    private final long buffers = file.getCapacity() / size;

    private final SplittableRandom random = new SplittableRandom(run.options().seed());
    private long left = buffers;

    /** Where to seek before the next read; negative if the stream is at the right place. */
    long next() {
      if (isRandom) {
        return random.nextLong(buffers) * size;
      }
      if (left-- > 0) {
        return -1;
      }
      left = buffers - 1;
      return 0;
    }
  }

  /** Checks that an operation has read all its bytes. */
  private long whole(long length) throws BenchException {
    if (length != run.options().size()) {
      throw new BenchException(
          run.options().path()
              + " gave "
              + length
              + " of "
              + run.options().size()
              + " bytes; has another client changed it?");
    }
    return length;
  }
}
