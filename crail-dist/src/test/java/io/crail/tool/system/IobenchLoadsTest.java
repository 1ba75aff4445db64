/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.bench.IoBench;
import io.crail.bench.options.LoadType;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that runs that are seldom looked at include every type of load. */
class IobenchLoadsTest {
  @Test
  void noTypeIsMissing() {
    TreeSet<String> known = new TreeSet<>();
    IoBench.types().stream().map(LoadType::label).forEach(known::add);
    TreeSet<String> run = new TreeSet<>();
    IobenchLoads.ALL.stream().map(IobenchLoads.Load::type).forEach(run::add);
    assertEquals(known, run);
  }
}
