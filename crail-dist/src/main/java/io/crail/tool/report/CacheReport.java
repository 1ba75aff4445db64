/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.cache.CacheContents.Source;
import java.util.List;

/**
 * What caches of slow file systems hold.
 *
 * @param sources the ones that take most come first
 */
public record CacheReport(List<Source> sources) implements CommandReport {
  @Override
  public void print(ReportText text) {
    if (sources.isEmpty()) {
      text.line("nothing is cached");
      return;
    }
    TextTable table = new TextTable("-source", "files", "blocks", "size");
    for (Source each : sources) {
      table.row(each.name(), each.files(), each.blocks(), text.size(each.bytes()));
    }
    table.print(text);
  }
}
