/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.tool.command.ExitCode;
import io.crail.tool.report.PartialReport;
import io.crail.tool.report.ReportText;
import java.util.List;
import java.util.Optional;

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
 * @param ownersNamenodes at how many of them the owners of all space were compared
 * @param doubleOwners space that two files have, or two namenodes give out, a line each
 * @param omittedOwners how many more there are
 * @param wrongShares where the shares of spread directories are not as their owners say, a line
 *     each
 * @param leases the write leases
 * @param data what reading from the extents has shown, if that was asked for
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
    int ownersNamenodes,
    List<String> doubleOwners,
    long omittedOwners,
    List<String> wrongShares,
    FsckLeases leases,
    Optional<Data> data,
    List<String> missing)
    implements PartialReport {
  /**
   * A file with bytes that cannot be read.
   *
   * @param state {@link #LOST} or one of the others
   * @param path where it is
   * @param bytes how many bytes cannot be read
   * @param size how many it has
   * @param datanode the first datanode where this holds, by its id at the namenode
   * @param address host and port of that datanode; its id if its namenode does not know it
   * @param reason what is the matter with that datanode
   */
  public record Damage(
      String state,
      String path,
      long bytes,
      long size,
      int datanode,
      String address,
      String reason) {
    /** The datanode is gone. */
    static final String LOST = "lost";

    /** The datanode says nothing, and may come back. */
    static final String SILENT = "silent";

    /** The datanode is there, without these bytes. */
    static final String STALE = "stale";

    /** The datanode is there, but not for this host. */
    static final String UNREAD = "unread";

    void print(ReportText text) {
      text.line(
          "%s%s %s: %s of %s, datanode %s %s",
          text.colours().state(state),
          " ".repeat(8 - state.length()),
          Printable.line(path),
          text.size(bytes),
          text.size(size),
          Printable.line(address),
          Printable.line(reason));
    }
  }

  /**
   * What came of reading from extents.
   *
   * @param percent how many of the files were to be read from
   * @param files those files
   * @param extents from how many of their extents a byte was read
   * @param staleFiles files with bytes that their datanodes do not have
   * @param staleBytes bytes of those extents
   * @param unreadFiles other files with bytes that this host could not read
   * @param unreadBytes bytes of those extents
   */
  public record Data(
      double percent,
      long files,
      long extents,
      long staleFiles,
      long staleBytes,
      long unreadFiles,
      long unreadBytes) {
    private void print(ReportText text) {
      text.line(
          "read from %s of %s; stale: %s; unread: %s",
          ReportText.count(extents, "extent"),
          ReportText.count(files, "file"),
          sum(staleFiles, staleBytes),
          sum(unreadFiles, unreadBytes));
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
    wrongAccounts.forEach(each -> text.line("accounts " + Printable.line(each)));
    doubleOwners.forEach(each -> text.line("owners   " + Printable.line(each)));
    if (omittedOwners > 0) {
      text.line("owners   and %d more", omittedOwners);
    }
    wrongShares.forEach(each -> text.line("shares   " + Printable.line(each)));
    leases.print(text);
    data.ifPresent(each -> each.print(text));
    text.line(
        "%s examined; lost: %s; silent: %s; %s; %s",
        ReportText.count(objects, "node"),
        sum(lostFiles, lostBytes),
        sum(silentFiles, silentBytes),
        owners(),
        accounts());
  }

  private static String sum(long files, long bytes) {
    return ReportText.count(files, "file") + " (" + ByteText.of(bytes) + ")";
  }

  private String owners() {
    if (!doubleOwners.isEmpty()) {
      return "space has two owners";
    }
    return ownersNamenodes == namenodes
        ? "no space has two owners"
        : "owners of space compared at " + ownersNamenodes + " of " + namenodes + " namenodes";
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
    boolean well =
        silentFiles == 0
            && wrongAccounts.isEmpty()
            && doubleOwners.isEmpty()
            && wrongShares.isEmpty()
            && leases.overdue() == 0
            && data.map(each -> each.staleFiles() + each.unreadFiles()).orElse(0L) == 0
            && (repaired || lostFiles == 0);
    // What was found stays true, whatever the missing part would say.
    return well ? PartialReport.super.exitCode() : ExitCode.FAILURE;
  }
}
