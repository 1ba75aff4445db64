/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailNode;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Recorder;
import io.crail.bench.run.BenchRun;
import java.io.EOFException;
import java.util.TreeMap;

/** Reads ints from the stream over a multi-file with files of {@link IntWrite}. */
public final class MultiStreamIntRead extends MultiStream {
  private static final long MAX_PREPARED_INTS = 16 << 20;

  private IntCheck check;

  /** Creates the workload. */
  public MultiStreamIntRead(BenchRun run) {
    super(run);
  }

  /**
   * The files that are not yet read to their end. Their order is random, so it is unknown which
   * file is being read. But each file begins with 0 and has no other 0. So a 0 at a place where a
   * file may end begins the next file, and after the longest file there must be a 0.
   */
  static final class Remaining {
    private final TreeMap<Long, Integer> counts = new TreeMap<>();
    private long longest;
    private long read;

    /** Adds a file. */
    void add(long ints) {
      counts.merge(ints, 1, Integer::sum);
      longest = counts.lastKey();
    }

    /** The expected value of the next int, given the value that was found. */
    int expected(int found) {
      if (read == longest || found == 0 && counts.containsKey(read)) {
        counts.computeIfPresent(read, (ints, count) -> count == 1 ? null : count - 1);
        longest = counts.isEmpty() ? Long.MAX_VALUE : counts.lastKey();
        read = 0;
      }
      return (int) read++;
    }
  }

  @Override
  protected long preparedInts() {
    return Math.max(1, Math.min(run.options().loop() / PREPARED_FILES, MAX_PREPARED_INTS));
  }

  @Override
  protected String writeOptions() {
    return "-t writeInt -k " + run.options().loop();
  }

  @Override
  protected void warmUp() throws Exception {
    for (CrailNode file : files()) {
      if (file.getCapacity() % Integer.BYTES != 0) {
        throw IntRead.noInts(file, writeOptions() + " -f " + file.getPath());
      }
    }
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
      check.verdict();
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    check = new IntCheck(run.options().path());
    recorder.begin();
    for (long left = operations; left > 0; ) {
      long count = Math.min(left, bytes() / Integer.BYTES);
      readOnce(count, recorder);
      left -= count;
    }
    recorder.end();
  }

  @Override
  public void verify() throws BenchException {
    check.report(run);
  }

  private void readOnce(long count, Recorder recorder) throws Exception {
    Remaining remaining = new Remaining();
    for (CrailNode file : files()) {
      remaining.add(file.getCapacity() / Integer.BYTES);
    }
    try (CrailBufferedInputStream stream = open()) {
      long issued = recorder.now();
      for (long i = 0; i < count; i++) {
        int found = next(stream);
        check.expect(i * Integer.BYTES, remaining.expected(found), found);
        long completed = recorder.now();
        recorder.operation(issued, completed, Integer.BYTES);
        issued = completed;
      }
    }
  }

  private int next(CrailBufferedInputStream stream) throws Exception {
    try {
      return stream.readInt();
    } catch (EOFException e) {
      throw changed(stream.position());
    }
  }
}
