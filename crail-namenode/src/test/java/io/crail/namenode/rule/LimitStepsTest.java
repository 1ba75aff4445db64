/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import static io.crail.namenode.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import io.crail.namenode.ManualClock;
import io.crail.namenode.Steps;
import io.crail.namenode.TestStore;
import io.crail.namenode.classes.NodeClasses;
import io.crail.namenode.quota.Quota;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.NodeExtras;
import io.crail.namenode.tree.TreeWriter;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may set the limits of a spread directory, and when. */
class LimitStepsTest {
  private static final CompoundStep LIMIT = Steps.limit(-1, 3);

  private final Container directory =
      new Container(6, NodeType.DIRECTORY, 0, 0, NodeInfo.SPREAD, 0, 0);
  private final Quota quota = new Quota(directory, null);
  private final LimitSteps steps = new LimitSteps(directory, true, null);

  @BeforeEach
  void divide() throws Exception {
    new TreeWriter(new TestStore().namenode.tree()).quota(directory, quota);
    quota.divide(2, 0);
  }

  private void countAll() {
    Quota.Limits slice = quota.offer(1);
    quota.answered(1, new Quota.Report(new Quota.Usage(0, 0, slice), false), true);
  }

  @Test
  void allNamenodesHaveToCount() throws Exception {
    refused(ErrorCode.NOT_EMPTY, () -> steps.limit(LIMIT));
    refused(ErrorCode.CONDITION_FAILED, steps::usage);
    quota.offer(1);
    quota.missing(1);
    refused(ErrorCode.UNAVAILABLE, () -> steps.limit(LIMIT));
    assertEquals(0, steps.usage().names());
    countAll();
    assertEquals(new Quota.Limits(-1, 3), steps.limit(LIMIT).decided());
  }

  /** Decides the limit. */
  private static final class Limiting implements NodeClass {
    @Override
    public String name() {
      return "limiting";
    }

    @Override
    public Decision call(String method, NodeView node, byte[] input, long nowMillis) {
      return new Decision(CompoundOperation.builder().limit(-1, 3).build(), input);
    }
  }

  /** Only a list with such a step is performed together with the other namenodes. */
  @Test
  void noMethodDecidesThem() {
    countAll();
    ManualClock clock = new ManualClock();
    CompoundRun run =
        new CompoundRun(
            directory.id(),
            true,
            NodeExtras.NONE,
            NodeExtras.NONE,
            new KeptBytes(null, 0, 0, null),
            new NodeClasses(clock, List.of(new Limiting())),
            clock.currentTimeMillis());
    run.limits(steps);
    run.perform(CompoundOperation.builder().call("limiting.set", new byte[0]).build().steps());
    Operate.Response response = run.response(directory.id(), 0, NodeExtras.NONE);
    assertEquals(ErrorCode.INVALID_ARGUMENT.number(), response.results().get(0).code());
  }
}
