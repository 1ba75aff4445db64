/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.tool.report.Finding;
import io.crail.tool.report.Finding.Grade;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the doctor of one host sends to that of another: lines of fields, with tabs between them.
 *
 * @param clockMillis its time, milliseconds since 1970; -1 if it did not say
 * @param version its version of Crail
 * @param settings what its configuration sets
 * @param findings of its checks
 */
record HostAnswer(
    long clockMillis, String version, Map<String, String> settings, List<Finding> findings) {
  private static final String TAB = "\t";

  void write(PrintStream out) {
    out.println("version" + TAB + version);
    settings.forEach((key, value) -> out.println("set" + TAB + key + TAB + value));
    for (Finding each : findings) {
      out.println("found" + TAB + each.grade().name() + TAB + each.text() + TAB + each.cure());
    }
    out.println("clock" + TAB + clockMillis);
  }

  /** Reads what {@link #write} has written. Lines that are none of these are passed over. */
  static HostAnswer read(List<String> lines) {
    long clock = -1;
    String version = "";
    Map<String, String> settings = new TreeMap<>();
    List<Finding> findings = new ArrayList<>();
    for (String line : lines) {
      String[] fields = line.split(TAB, -1);
      if (fields[0].equals("clock") && fields.length == 2 && fields[1].matches("\\d{1,18}")) {
        clock = Long.parseLong(fields[1]);
      } else if (fields[0].equals("version") && fields.length == 2) {
        version = fields[1];
      } else if (fields[0].equals("set") && fields.length == 3) {
        settings.put(fields[1], fields[2]);
      } else if (fields[0].equals("found") && fields.length == 4) {
        for (Grade grade : Grade.values()) {
          if (grade.name().equals(fields[1])) {
            findings.add(new Finding(grade, fields[2], fields[3]));
          }
        }
      }
    }
    return new HostAnswer(clock, version, settings, findings);
  }
}
