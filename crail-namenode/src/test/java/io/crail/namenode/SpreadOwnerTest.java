/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.rule.SpreadLimits;
import io.crail.namenode.rule.SpreadRule;
import io.crail.namenode.user.Logins;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a namenode does with its spread directory, and when it asks others. */
class SpreadOwnerTest {
  private static final int CHILDREN = 20;
  private static final String PATH = "/spread";

  /** The nodes that the owner has when each state is said. */
  private final List<String> said = new ArrayList<>();

  private SpreadRule.Round elsewhere = new SpreadRule.Round(0, null);
  private NameNode namenode;
  private Wire wire;
  private long id;

  /** Others that answer at once. */
  private final SpreadRule.Neighbours others =
      new SpreadRule.Neighbours() {
        @Override
        public long roundNanos() {
          return 1;
        }

        @Override
        public void say(SetShare.Request state, Consumer<SpreadRule.Round> done) {
          said.add(state.state() + ": " + namenode.tree().size());
          done.accept(elsewhere);
        }

        @Override
        public void lend(SpreadRule.QuotaLoans loans, Consumer<CrailException> done) {
          done.accept(null);
        }
      };

  @BeforeEach
  void make() throws Exception {
    namenode =
        new NameNode(
            NameNodeOptions.of(Configuration.builder().build(), owner(), 2),
            new ManualClock(),
            new Random(1),
            null,
            others);
    wire =
        Wire.connect(
            NameNodeService.create(namenode, null, Leadership.ALONE, Logins.ANYBODY, Map::of),
            TestStore.CLIENT);
    Caller caller = TestStore.caller("someone");
    namenode
        .rules()
        .spread()
        .create(
            TestStore.creation(NodeType.DIRECTORY, PATH, 0),
            caller,
            namenode.createRule(new SessionUser(namenode.users(), caller))::create);
    id = namenode.tree().spread().owned().keySet().iterator().next();
    said.clear();
  }

  /** Taking nodes apart would delay the messages to other namenodes, and the answer. */
  @Test
  void childrenAreTakenApartAfterTheAnswer() throws Exception {
    final long before = namenode.tree().size();
    for (int i = 0, made = 0; made < CHILDREN; i++) {
      Utf8 child = SpreadPath.of(id, PATH.length(), Utf8.of(PATH + "/" + i));
      if (NodePath.namenodeOf(child, 2) == owner()) {
        Create.Request creation = TestStore.creation(NodeType.DATAFILE, child, 0);
        wire.call(NameNodeOperations.CREATE, creation);
        made++;
      }
    }
    namenode.rules().spread().remove(new Remove.Request(true, Utf8.of(PATH)));
    long after = before - 1 + CHILDREN;
    assertEquals(
        List.of(
            SetShare.OPEN + ": " + (after + 1),
            SetShare.SEALED + ": " + (after + 1),
            SetShare.GONE + ": " + after),
        said);
    assertNull(namenode.tree().spread().owned().get(id));
    namenode.tick();
    assertEquals(before - 1, namenode.tree().size());
    namenode.verify();
  }

  /** An account stays. So none begins for limits that others are known to refuse. */
  @Test
  void limitsThatOthersRefuseLeaveNoAccount() throws Exception {
    elsewhere = new SpreadRule.Round(1, null);
    assertFalse(hasAccountAfterLimit());
    elsewhere = new SpreadRule.Round(0, ErrorCode.UNAVAILABLE.exception("the other one"));
    assertFalse(hasAccountAfterLimit());
    elsewhere = new SpreadRule.Round(0, null);
    assertTrue(hasAccountAfterLimit());
    namenode.verify();
  }

  private boolean hasAccountAfterLimit() throws Exception {
    List<CompoundStep> steps = CompoundOperation.builder().limit(1 << 20, 10).build().steps();
    Operate.Request request = new Operate.Request(0644, Utf8.of(PATH), steps);
    SpreadLimits limits = namenode.rules().limits();
    assertTrue(limits.isFor(request));
    limits.operate(
        request,
        () -> namenode.rules().compound().operate(request, (parent, old, made) -> null, b -> {}));
    return namenode.tree().spread().owned().get(id).hasOwnQuota();
  }

  private static int owner() {
    return NodePath.namenodeOf(Utf8.of(PATH), 2);
  }
}
