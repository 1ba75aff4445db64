/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.tool.command.ExitCode;
import java.util.List;

/**
 * Which namenodes answer.
 *
 * @param namenodes all of them, in the order of {@code crail.namenode.address}
 */
public record PingReport(List<NamenodeAnswer> namenodes) implements CommandReport {
  @Override
  public void print(ReportText text) {
    namenodes.stream()
        .filter(NamenodeAnswer::answers)
        .forEach(each -> text.line("%s answers in %d us", each.name(), each.micros()));
  }

  @Override
  public List<String> warnings() {
    return namenodes.stream()
        .filter(each -> !each.answers())
        .map(each -> each.name() + " does not answer: " + each.problem())
        .toList();
  }

  @Override
  public int exitCode() {
    return namenodes.stream().allMatch(NamenodeAnswer::answers) ? 0 : ExitCode.FAILURE;
  }
}
