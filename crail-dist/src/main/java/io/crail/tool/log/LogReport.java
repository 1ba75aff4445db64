/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.log;

import static io.crail.tool.report.ReportText.count;

import io.crail.common.error.CrailException;
import io.crail.namenode.LogRecords;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogCut;
import io.crail.namenode.log.LogSurvey;
import io.crail.namenode.log.LogSurvey.Part;
import io.crail.namenode.log.LogSurvey.Snapshot;
import io.crail.namenode.log.LogSurvey.Use;
import io.crail.tool.command.ExitCode;
import io.crail.tool.report.CommandReport;
import io.crail.tool.report.ReportText;
import io.crail.tool.report.TextTable;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What is in the directory of a log.
 *
 * @param directory its path
 * @param process the process that uses it; -1 if none is known
 * @param lineage whose log it is; empty if that record is lost
 * @param begin number of the last record in the snapshot with which a start begins; 0 for none
 * @param last number of the last record that a start reads, before any damage
 * @param lastSeen the greatest number of a record that is somewhere, also behind damage
 * @param damage why the next start fails; empty if it does not
 * @param snapshots the snapshots
 * @param files the files of the log
 * @param others files that a namenode does not read
 */
public record LogReport(
    String directory,
    long process,
    Map<String, Object> lineage,
    long begin,
    long last,
    long lastSeen,
    String damage,
    List<Snapshot> snapshots,
    List<Part> files,
    List<String> others)
    implements CommandReport {
  static LogReport of(Path directory, LogSurvey survey) throws CrailException {
    OptionalLong user = FileLogDirectory.user(directory);
    return new LogReport(
        directory.toString(),
        user.orElse(-1),
        survey.lineage().length() == 0 ? Map.of() : LogRecords.lineage(survey.lineage().bytes()),
        survey.begin(),
        survey.last(),
        survey.lastSeen(),
        survey.damage(),
        survey.snapshots(),
        survey.parts(),
        survey.others());
  }

  private boolean isEmpty() {
    return lastSeen == 0 && damage.isEmpty();
  }

  @Override
  public void print(ReportText text) {
    text.line("%s%s", directory, process < 0 ? "" : ", in use by process " + process);
    if (isEmpty()) {
      text.line("there is no log here: a namenode that starts here is empty");
      printOthers(text);
      return;
    }
    printLineage(text);
    text.line(text.colours().state(damage.isEmpty() ? "ok" : "broken") + ": " + verdict());
    text.line("");
    printSnapshots(text);
    printFiles(text);
    printOthers(text);
    printAdvice(text);
  }

  private void printLineage(ReportText text) {
    if (lineage.isEmpty()) {
      text.line("whose log it is cannot be read");
      return;
    }
    text.line(
        "namenode %s of %s of cluster '%s', blocks of %s, user %s, format %s, begun %s",
        lineage.get("index"),
        lineage.get("count"),
        lineage.get("cluster"),
        text.size(((Number) lineage.get("blockSize")).longValue()),
        lineage.get("user"),
        lineage.get("format"),
        time(((Number) lineage.get("rootMillis")).longValue()));
  }

  private String verdict() {
    String read =
        begin == 0
            ? "the records 1 to " + last
            : "the snapshot after record "
                + begin
                + (last > begin ? ", and the records to " + last : "");
    if (damage.isEmpty()) {
      return "a start reads " + read;
    }
    boolean isSnapshot = snapshots.stream().anyMatch(each -> each.damage().equals(damage));
    return "a start fails: "
        + damage
        + (isSnapshot
            ? ""
            : "; whole are "
                + read
                + ", and "
                + (lastSeen > last ? count(lastSeen - last, "record") : "nothing known")
                + " behind the damage");
  }

  private void printSnapshots(ReportText text) {
    TextTable table =
        new TextTable("-snapshot after record", "records", "written (UTC)", "size", "-use");
    for (Snapshot each : snapshots) {
      table.row(
          each.position(),
          each.isWhole() ? each.records() : "-",
          time(each.writtenMillis()),
          text.size(each.bytes()),
          !each.damage().isEmpty()
              ? "damaged: " + each.damage()
              : each.isRead()
                  ? "a start begins with it"
                  : each.isWhole()
                      ? "older; the next start removes it"
                      : "not written to its end; the next start removes it");
    }
    if (!table.isEmpty()) {
      table.print(text);
      text.line("");
    }
  }

  private void printFiles(ReportText text) {
    TextTable table =
        new TextTable(
            "-file", "records from", "to", "written (UTC)", "to", "size", "used", "torn", "-use");
    for (Part each : files) {
      boolean hasRecords = each.frames() > 0;
      table.row(
          each.file(),
          hasRecords ? each.first() : "-",
          hasRecords ? each.last() : "-",
          time(each.firstMillis()),
          time(each.lastMillis()),
          text.size(each.bytes()),
          text.size(each.usedBytes()),
          text.size(each.tornBytes()),
          each.damage().isEmpty() ? use(each) : "damaged: " + each.damage());
    }
    if (!table.isEmpty()) {
      table.print(text);
    }
  }

  private static String use(Part part) {
    return switch (part.use()) {
      case READ -> "";
      case COVERED -> "in the snapshot; the next start removes it";
      case AHEAD -> "ahead";
    };
  }

  private void printOthers(ReportText text) {
    if (!others.isEmpty()) {
      text.line("no namenode reads: %s", String.join(", ", others));
    }
  }

  private void printAdvice(ReportText text) {
    long torn =
        files.stream().filter(each -> each.use() == Use.READ).mapToLong(Part::tornBytes).sum();
    if (torn > 0) {
      text.line("");
      text.line(
          "Torn are %s of a write that did not end, as after a crash%s. No client was told of it.",
          text.size(torn), process < 0 ? "" : ", or while it is written");
    }
    if (!damage.isEmpty()) {
      text.line("");
      text.line(
          "To go on, move this directory away and put a copy of it in its place. Without one:");
      text.line("  crail log cut --at-damage %s    shows what would be lost, and asks", directory);
    }
  }

  @Override
  public int exitCode() {
    return damage.isEmpty() ? 0 : ExitCode.FAILURE;
  }

  private static String time(long millis) {
    return millis == 0 ? "-" : Instant.ofEpochMilli(millis).toString();
  }

  /** Says what a cut would do. */
  static void printPlan(ReportText text, Path directory, LogCut cut) {
    text.line("%s: the log would end with record %d.", directory, cut.last());
    if (cut.changed().isEmpty()) {
      text.line("It does so already; there is nothing to cut.");
      return;
    }
    text.line(
        cut.lost() == 0
            ? "No record is known that would be lost."
            : count(cut.lost(), "later record")
                + " would be lost. Clients were told that these changes are safe, except perhaps"
                + " the last ones.");
    for (Snapshot each : cut.removedSnapshots()) {
      text.line("The snapshot after record %d would not be used.", each.position());
    }
    text.line("Set aside: %s", String.join(", ", cut.changed()));
  }

  /** Says what a cut has done. */
  static void printCut(ReportText text, String prefix, LogSurvey now) {
    text.line(
        "The log ends with record %d%s. What was cut off is in %s*; for the state of before, give",
        now.last(), now.damage().isEmpty() ? "" : ", AND IS DAMAGED: " + now.damage(), prefix);
    text.line("these files their names back, and delete what is in their places.");
    text.line(
        "End all programs that use the cluster before you start the namenode: they may know places");
    text.line("of data that it does not know any more. Then 'crail fsck' shows what is left.");
  }
}
