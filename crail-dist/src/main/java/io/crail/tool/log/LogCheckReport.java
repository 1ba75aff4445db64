/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.log;

import static io.crail.tool.report.ReportText.count;

import io.crail.namenode.LogCheck;
import io.crail.protocol.part.ClassUsage;
import io.crail.tool.report.CommandReport;
import io.crail.tool.report.ReportText;
import io.crail.tool.report.TextTable;

/**
 * What a namenode would have that starts from a log, in which nothing is wrong.
 *
 * @param directory the path of the log
 * @param contents what it would have
 */
public record LogCheckReport(String directory, LogCheck contents) implements CommandReport {
  @Override
  public void print(ReportText text) {
    text.line(
        "%s: a start reads %s%d",
        text.colours().state("ok"),
        contents.begin() == 0
            ? "the records 1 to "
            : "the snapshot after record " + contents.begin() + ", and the records to ",
        contents.last());
    text.line(
        "%s, %s being written, %s; all accounts and owners of space fit together",
        count(contents.nodes(), "node"),
        count(contents.leases(), "file"),
        count(contents.datanodes(), "datanode"));
    text.line(
        "memory: %s of heap, and %s for small values",
        text.size(contents.heapBytes()), text.size(contents.smallBytes()));
    if (contents.tornBytes() > 0) {
      text.line("%s of a write that did not end are passed over", text.size(contents.tornBytes()));
    }
    TextTable table = new TextTable("class", "capacity", "used", "free", "resting");
    for (ClassUsage each : contents.usage()) {
      table.row(
          each.storageClass(),
          text.size(each.capacityBytes()),
          text.size(each.usedBytes()),
          text.size(each.freeBytes()),
          text.size(each.waitingBytes()));
    }
    if (!table.isEmpty()) {
      table.print(text);
    }
  }
}
