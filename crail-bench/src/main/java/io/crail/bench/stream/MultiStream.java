/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.stream;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailMultiFile;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The common part of the types that read all files of a multi-file as one stream. */
abstract class MultiStream implements Workload {
  /** How many files are written when the multi-file is made only to be read. */
  protected static final int PREPARED_FILES = 4;

  /** Options and store. */
  protected final BenchRun run;

  private final List<CrailNode> files = new ArrayList<>();
  private long bytes;

  /** Creates the workload. */
  MultiStream(BenchRun run) {
    this.run = run;
  }

  @Override
  public final void prepare() throws Exception {
    String path = run.options().path();
    if (run.lookup(path) == null && run.embedded()) {
      write(path);
    }
    for (Iterator<CrailNode> children = multiFile().listStatus(); children.hasNext(); ) {
      CrailNode child = children.next();
      if (child.getType() == CrailNodeType.DATAFILE && child.getCapacity() > 0) {
        files.add(child);
        bytes += child.getCapacity();
      }
    }
    if (bytes == 0) {
      throw new BenchException(
          path + " has no bytes; write files into it first: crail iobench " + writeCommand());
    }
    warmUp();
  }

  private void write(String path) throws Exception {
    long ints = preparedInts();
    run.notice(
        "The embedded cluster is empty: writing the multi-file "
            + path
            + " with "
            + PREPARED_FILES
            + " files of "
            + ints
            + " ints");
    run.create(path, CrailNodeType.MULTIFILE).syncDir();
    for (int i = 0; i < PREPARED_FILES; i++) {
      CrailNode file = run.create(BenchRun.childOf(path, "part" + i), CrailNodeType.DATAFILE);
      IntWrite.fill(file.asFile(), ints);
    }
  }

  /** The command line, without iobench, that writes a file into the multi-file. */
  protected final String writeCommand() {
    return writeOptions() + " -f " + BenchRun.childOf(run.options().path(), "part0");
  }

  private CrailMultiFile multiFile() throws Exception {
    String path = run.options().path();
    CrailNode node = run.lookup(path);
    if (node == null) {
      throw run.missing(
          path, "-t createMultiFile -f " + path + "; crail iobench " + writeCommand());
    }
    if (node.getType() != CrailNodeType.MULTIFILE) {
      throw run.wrongType(node, "a multi-file");
    }
    return node.asMultiFile();
  }

  /** Opens the stream at its beginning, with as many reads in flight as the options say. */
  protected final CrailBufferedInputStream open() throws Exception {
    return multiFile().getMultiStream(run.options().batch());
  }

  /** The files with bytes, as they were found at the beginning. */
  protected final List<CrailNode> files() {
    return files;
  }

  /** Bytes of all files. */
  protected final long bytes() {
    return bytes;
  }

  /** The error when the stream had another number of bytes. */
  protected final BenchException changed(long found) {
    return new BenchException(
        run.options().path()
            + " gave "
            + found
            + " of "
            + bytes
            + " bytes; has another client changed it?");
  }

  /** Reads bytes that are not counted. */
  protected abstract void warmUp() throws Exception;

  /** How many ints are written to each file when the multi-file is made only to be read. */
  protected abstract long preparedInts();

  /** Type and amount in a command that writes such a file. */
  protected abstract String writeOptions();
}
