/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import java.util.SplittableRandom;

/** Reads the ints of {@link IntWrite}, in order or from random positions, and checks them. */
public final class IntRead implements Workload {
  private final BenchRun run;
  private final boolean seeks;
  private CrailFile file;
  private IntCheck check;

  private IntRead(BenchRun run, boolean seeks) {
    this.run = run;
    this.seeks = seeks;
  }

  /** Reads one int after the other. At the end of the file it starts again. */
  public static IntRead sequential(BenchRun run) {
    return new IntRead(run, false);
  }

  /** Seeks to a random int before each read. */
  public static IntRead random(BenchRun run) {
    return new IntRead(run, true);
  }

  @Override
  public void prepare() throws Exception {
    file = open();
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
      check.verdict();
    }
  }

  private CrailFile open() throws Exception {
    String path = run.options().path();
    long ints = run.options().loop();
    String command = "-t writeInt -k " + ints + " -f " + path;
    CrailNode node = run.lookup(path);
    if (node == null && run.embedded()) {
      long prepared = Math.min(ints, BenchRun.MAX_PREPARED_BYTES / Integer.BYTES);
      run.notice("The embedded cluster is empty: writing " + path + " with " + prepared + " ints");
      IntWrite.fill(run.create(path, CrailNodeType.DATAFILE).asFile(), prepared);
      node = run.lookup(path);
    }
    if (node == null) {
      throw run.missing(path, command);
    }
    if (node.getType() != CrailNodeType.DATAFILE) {
      throw run.wrongType(node, "a file");
    }
    if (node.getCapacity() == 0 || node.getCapacity() % Integer.BYTES != 0) {
      throw noInts(node, command);
    }
    return node.asFile();
  }

  /** The error for a node that has no ints to check. */
  static BenchException noInts(CrailNode node, String command) {
    return new BenchException(
        node.getPath()
            + " has "
            + node.getCapacity()
            + " bytes, which are no ints; write them first: crail iobench "
            + command);
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    check = new IntCheck(file.getPath());
    long ints = file.getCapacity() / Integer.BYTES;
    SplittableRandom random = new SplittableRandom(run.options().seed());
    long hint = Math.min(operations, ints) * Integer.BYTES;
    try (CrailBufferedInputStream stream = file.getBufferedInputStream(hint)) {
      long index = 0;
      long issued = recorder.begin();
      for (long i = 0; i < operations; i++) {
        if (seeks) {
          index = random.nextLong(ints);
          stream.seek(index * Integer.BYTES);
        } else if (index == ints) {
          index = 0;
          stream.seek(0);
        }
        check.expect(index * Integer.BYTES, (int) index, stream.readInt());
        index++;
        long completed = recorder.now();
        recorder.operation(issued, completed, Integer.BYTES);
        issued = completed;
      }
      recorder.end();
    }
  }

  @Override
  public void verify() throws BenchException {
    check.report(run);
  }
}
