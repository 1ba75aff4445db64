/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.dist.command.ExitCode;
import io.crail.dist.report.PartialReport;
import io.crail.dist.report.ReportText;
import java.util.List;

/**
 * What a check of all files has found.
 *
 * @param objects files, directories and so on that were examined
 * @param lostFiles files with bytes at datanodes that are gone
 * @param lostBytes these bytes
 * @param silentFiles other files with bytes at datanodes that say nothing and may come back
 * @param silentBytes these bytes
 * @param files these files, as many as a report may have
 * @param omittedFiles how many more there are
 * @param namenodes how many namenodes there are
 * @param comparedNamenodes at how many of them accounts and files could be compared, since nothing
 *     changed meanwhile
 * @param wrongAccounts where accounts and files differ, a line each
 * @param missing the namenodes whose parts are missing, each with the reason
 */
public record FsckReport(
    long objects,
    long lostFiles,
    long lostBytes,
    long silentFiles,
    long silentBytes,
    List<Damage> files,
    long omittedFiles,
    int namenodes,
    int comparedNamenodes,
    List<String> wrongAccounts,
    List<String> missing)
    implements PartialReport {
  /**
   * A file with bytes that cannot be read.
   *
   * @param state {@code lost} or {@code silent}
   * @param path where it is
   * @param bytes how many bytes cannot be read
   * @param size how many it has
   * @param datanode the first datanode of which this is true, by its id at the namenode
   */
  public record Damage(String state, String path, long bytes, long size, int datanode) {
    boolean isLost() {
      return state.equals("lost");
    }

    void print(ReportText text) {
      text.line(
          "%s%s %s: %s of %s, datanode %d %s",
          text.colours().state(state),
          " ".repeat(8 - state.length()),
          Printable.line(path),
          text.size(bytes),
          text.size(size),
          datanode,
          isLost() ? "is gone" : "is silent");
    }
  }

  @Override
  public void print(ReportText text) {
    files.forEach(each -> each.print(text));
    if (omittedFiles > 0) {
      text.line("and %s more; 'crail fsck' without --watch and --json names all", omittedFiles);
    }
    printSummary(text);
  }

  /** Prints everything but the files. */
  void printSummary(ReportText text) {
    wrongAccounts.forEach(each -> text.line("accounts " + each));
    text.line(
        "%s examined; lost: %s; silent: %s; %s",
        ReportText.count(objects, "object"),
        sum(lostFiles, lostBytes),
        sum(silentFiles, silentBytes),
        accounts());
  }

  private static String sum(long files, long bytes) {
    return ReportText.count(files, "file") + " (" + ByteText.of(bytes) + ")";
  }

  /** On a store that changes meanwhile there is nothing to compare with. */
  private String accounts() {
    if (!wrongAccounts.isEmpty()) {
      return "accounts are wrong";
    }
    return comparedNamenodes == namenodes
        ? "accounts are right"
        : "accounts compared at " + comparedNamenodes + " of " + namenodes + " namenodes";
  }

  @Override
  public int exitCode() {
    return exitCode(false);
  }

  /** The exit code, if the lost files may have been removed since. */
  int exitCode(boolean repaired) {
    if (!missing.isEmpty()) {
      return ExitCode.PARTIAL;
    }
    boolean well = silentFiles == 0 && wrongAccounts.isEmpty() && (repaired || lostFiles == 0);
    return well ? 0 : ExitCode.FAILURE;
  }
}
