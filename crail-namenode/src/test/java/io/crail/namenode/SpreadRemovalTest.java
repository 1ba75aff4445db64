/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.rule.SpreadRule;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a namenode does until it answers the removal of its spread directory. */
class SpreadRemovalTest {
  private static final int CHILDREN = 20;
  private static final String PATH = "/spread";

  /** The nodes that the owner has when each state is said. */
  private final List<String> said = new ArrayList<>();

  private NameNode namenode;

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
          done.accept(new SpreadRule.Round(0, null));
        }

        @Override
        public void lend(SpreadRule.QuotaLoans loans, Consumer<CrailException> done) {
          done.accept(null);
        }
      };

  /** Taking nodes apart would delay the messages to other namenodes, and the answer. */
  @Test
  void childrenAreTakenApartAfterTheAnswer() throws Exception {
    ManualClock clock = new ManualClock();
    namenode =
        new NameNode(
            NameNodeOptions.of(Configuration.builder().build(), owner(), 2),
            clock,
            new Random(1),
            null,
            others);
    Wire wire = Wire.connect(NameNodeService.create(namenode, Map::of), TestStore.CLIENT);
    Caller caller = TestStore.caller("someone");
    namenode
        .rules()
        .spread()
        .create(
            TestStore.creation(NodeType.DIRECTORY, PATH, 0),
            caller,
            namenode.createRule(new SessionUser(namenode.users(), caller))::create);
    final long before = namenode.tree().size();
    long id = namenode.tree().spread().owned().keySet().iterator().next();
    for (int i = 0, made = 0; made < CHILDREN; i++) {
      Utf8 child = SpreadPath.of(id, PATH.length(), Utf8.of(PATH + "/" + i));
      if (NodePath.namenodeOf(child, 2) == owner()) {
        Create.Request creation = TestStore.creation(NodeType.DATAFILE, child, 0);
        wire.call(NameNodeOperations.CREATE, creation);
        made++;
      }
    }
    said.clear();
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

  private static int owner() {
    return NodePath.namenodeOf(Utf8.of(PATH), 2);
  }
}
