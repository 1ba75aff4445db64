/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.meta;

import io.crail.CrailBlockLocation;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/**
 * Prints the block locations of a file, with the host names of {@code crail.locationmap}. Measures
 * nothing.
 */
public final class LocationMapPrint implements Workload {
  private final BenchRun run;

  /** Creates the workload. */
  public LocationMapPrint(BenchRun run) {
    this.run = run;
  }

  @Override
  public void prepare() throws Exception {
    if (run.worker() > 0) {
      return;
    }
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
