/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Printable;
import io.crail.tool.command.ExitCode;
import io.crail.tool.report.CommandReport;
import io.crail.tool.report.Finding;
import io.crail.tool.report.Finding.Grade;
import io.crail.tool.report.ReportText;
import java.util.List;

/**
 * What the doctor has found.
 *
 * @param places what was examined
 * @param brokenCount how many findings say that something will not work
 * @param warningCount how many are warnings
 */
public record DoctorReport(List<Place> places, long brokenCount, long warningCount)
    implements CommandReport {
  /**
   * A host, or the cluster.
   *
   * @param name names it for people
   * @param findings what was found there
   */
  public record Place(String name, List<Finding> findings) {}

  /** The findings of some places. */
  static DoctorReport of(List<Place> places) {
    List<Finding> all = places.stream().flatMap(each -> each.findings().stream()).toList();
    return new DoctorReport(
        places, Finding.count(all, Grade.BROKEN), Finding.count(all, Grade.WARNING));
  }

  @Override
  public void print(ReportText text) {
    for (Place place : places) {
      text.line(Printable.line(place.name()));
      Finding.print(text, place.findings());
    }
    text.line(
        brokenCount + warningCount == 0
            ? "all is well"
            : brokenCount + " broken, " + ReportText.count(warningCount, "warning"));
  }

  @Override
  public int exitCode() {
    return brokenCount == 0 ? 0 : ExitCode.FAILURE;
  }
}
