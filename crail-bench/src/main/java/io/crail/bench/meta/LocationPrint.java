/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailBlockLocation;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** Prints where a file, or this process, is. Measures nothing. */
public final class LocationPrint implements Workload {
  private final BenchRun run;
  private final boolean isOfFile;

  private LocationPrint(BenchRun run, boolean isOfFile) {
    this.run = run;
    this.isOfFile = isOfFile;
  }

  /** Prints the block locations of a file, with the host names of {@code crail.locationmap}. */
  public static LocationPrint ofFile(BenchRun run) {
    return new LocationPrint(run, true);
  }

  /** Prints the location class of this host. */
  public static LocationPrint ofHost(BenchRun run) {
    return new LocationPrint(run, false);
  }

  @Override
  public void prepare() throws Exception {
    if (run.worker() > 0) {
      return;
    }
    if (isOfFile) {
      printBlocks();
    } else {
      CrailLocationClass location = run.store().getLocationClass();
      run.print("locationClass " + location.value());
      run.print("host " + location.host());
    }
  }

  private void printBlocks() throws Exception {
    CrailNode node = run.existing();
    if (node.getType() != CrailNodeType.DATAFILE) {
      throw run.wrongType(node, "a file");
    }
    for (CrailBlockLocation block : node.getBlockLocations(0, node.getCapacity())) {
      run.print(
          "offset "
              + block.getOffset()
              + " length "
              + block.getLength()
              + " hosts "
              + String.join(",", block.getHosts()));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) {
    recorder.begin();
    recorder.end();
  }
}
