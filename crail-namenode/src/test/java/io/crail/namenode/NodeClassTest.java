/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.Steps.append;
import static io.crail.namenode.Steps.create;
import static io.crail.namenode.Steps.of;
import static io.crail.namenode.Steps.set;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.CompoundOperation;
import io.crail.compound.NodeClass;
import io.crail.compound.NodeView;
import io.crail.compound.StepKind;
import io.crail.namenode.classes.NodeClasses;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.StepResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Methods of namenodes that lists of steps call. */
class NodeClassTest {
  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    store.create(NodeType.TABLE, "/t", 0);
  }

  @AfterEach
  void nothingIsLost() {
    store.namenode.verify();
  }

  private static CompoundStep callOf(String method, String input) {
    return of(StepKind.CALL, Comparison.EQUAL, 0, 0, method, input, "");
  }

  private Operate.Response operate(CompoundStep... steps) throws CrailException {
    return store.call(
        NameNodeOperations.OPERATE, new Operate.Request(0640, Utf8.of("/t/k"), List.of(steps)));
  }

  private String done(String method, String input) throws CrailException {
    Operate.Response response = operate(callOf(method, input));
    assertEquals(Operate.NONE_FAILED, response.failed(), response.toString());
    return new String(response.results().get(0).data().bytes(), StandardCharsets.UTF_8);
  }

  private void fails(ErrorCode code, String method, String input) throws CrailException {
    Operate.Response response = operate(callOf(method, input));
    assertEquals(0, response.failed());
    assertEquals(code.number(), response.results().get(0).code());
  }

  @Test
  void aLockEndsWhenItIsNotRenewed() throws Exception {
    assertEquals("1", done("lock.acquire", "a 1000"));
    fails(ErrorCode.CONDITION_FAILED, "lock.acquire", "b 1000");
    fails(ErrorCode.CONDITION_FAILED, "lock.require", "b");
    fails(ErrorCode.CONDITION_FAILED, "lock.release", "b");
    store.clock.advanceMillis(600);
    assertEquals("1", done("lock.acquire", "a 1000"));
    store.clock.advanceMillis(600);
    assertEquals("1", done("lock.require", "a"));
    store.clock.advanceMillis(400);
    fails(ErrorCode.CONDITION_FAILED, "lock.require", "a");
    assertEquals("2", done("lock.acquire", "b 1000"));
    // Who was late can do nothing: the guard and what it does are one step.
    Operate.Response late = operate(callOf("lock.require", "a"), append("x"));
    assertEquals(0, late.failed());
    assertEquals(1, operate(callOf("lock.require", "b"), append("x")).size());
    done("lock.release", "b");
    assertEquals("3", done("lock.acquire", "a 1000"));
    fails(ErrorCode.INVALID_ARGUMENT, "lock.acquire", "a");
    fails(ErrorCode.INVALID_ARGUMENT, "lock.acquire", "a -1");
    fails(ErrorCode.INVALID_ARGUMENT, "lock.acquire", "");
    fails(ErrorCode.UNSUPPORTED, "lock.other", "a");
  }

  @Test
  void aCounterKeepsItsBounds() throws Exception {
    assertEquals("5", done("counter.add", "n 5 0 7"));
    fails(ErrorCode.CONDITION_FAILED, "counter.add", "n 3 0 7");
    assertEquals("7", done("counter.add", "n 2 0 7"));
    fails(ErrorCode.CONDITION_FAILED, "counter.add", "n -8 0 7");
    fails(ErrorCode.OUT_OF_RANGE, "counter.add", "n " + Long.MAX_VALUE + " 0 7");
    fails(ErrorCode.INVALID_ARGUMENT, "counter.add", "n x 0 7");
  }

  @Test
  void aTagHasItsOwnNumbers() throws Exception {
    assertEquals("1", done("tag.advance", "run"));
    assertEquals("2", done("tag.advance", "run"));
    assertEquals("2", done("tag.require", "run 1"));
    fails(ErrorCode.CONDITION_FAILED, "tag.require", "run 3");
    assertEquals("1", done("tag.advance", "other"));
    fails(ErrorCode.CONDITION_FAILED, "tag.require", "run 1");
  }

  /** Clients may set any attribute, and nothing that they set may end a class for others. */
  @Test
  void attributesOfClientsDoNoHarm() throws Exception {
    operate(
        create(),
        set("lock.owner", "x"),
        set("lock.until", String.valueOf(Long.MAX_VALUE)),
        set("queue.head", "-5"));
    assertEquals("0", done("lock.require", "x"));
    fails(ErrorCode.INVALID_ARGUMENT, "queue.pop", "");
    fails(ErrorCode.INVALID_ARGUMENT, "counter.add", "n".repeat(256) + " 1 0 9");
    fails(ErrorCode.INVALID_ARGUMENT, "lock.acquire", " ".repeat(60_000));
    operate(set("lock.until", "soon"), set("queue.head", "700000000000"), set("n", "?"));
    for (String method :
        List.of(
            "lock.acquire",
            "lock.require",
            "lock.release",
            "counter.add",
            "tag.advance",
            "tag.require",
            "queue.push",
            "queue.pop",
            "queue.peek")) {
      for (String input : List.of("", "n", "n 1", "n 1 0 9", "\0", "a b c d e f")) {
        for (StepResult result : operate(callOf(method, input).going()).results()) {
          assertNotEquals(ErrorCode.INTERNAL.number(), result.code(), method);
          assertNotEquals(ErrorCode.UNSUPPORTED.number(), result.code(), method);
        }
      }
    }
    operate(of(StepKind.DELETE));
    assertEquals("1", done("lock.acquire", "a 1000"));
  }

  @Test
  void aMethodThatMakesANodeExtendsTheReach() throws Exception {
    store.create(NodeType.TABLE, "/u", 0);
    String name = "n".repeat(250);
    store.call(
        NameNodeOperations.OPERATE,
        new Operate.Request(0640, Utf8.of("/u/" + name), List.of(callOf("tag.advance", "t"))));
    String deep = "/" + "a".repeat(255) + "/" + "b".repeat(255) + "/" + "c".repeat(255);
    store.mkdir("/" + "a".repeat(255));
    store.mkdir("/" + "a".repeat(255) + "/" + "b".repeat(255));
    store.mkdir(deep);
    // Its path would be longer than any request can name.
    refused(ErrorCode.INVALID_PATH, () -> store.rename("/u", deep + "/" + "u".repeat(100)));
    store.rename("/u", deep + "/u");
  }

  @Test
  void aListHasFewCalls() throws Exception {
    CompoundStep[] calls = new CompoundStep[9];
    Arrays.fill(calls, callOf("tag.advance", "t"));
    Operate.Response response = operate(calls);
    assertEquals(8, response.failed());
    assertEquals(ErrorCode.LIMIT_EXCEEDED.number(), response.results().get(8).code());
    assertTrue(response.reason().toString().contains("8 calls"), response.reason().toString());
  }

  @Test
  void aQueueGivesEachEntryOnce() throws Exception {
    int pushed = 0;
    int popped = 0;
    for (int round = 0; round < 40; round++) {
      for (int i = 0; i < 30; i++) {
        done("queue.push", pushed + "-" + "x".repeat(pushed++ % 100));
      }
      for (int i = 0; i < (round % 3 == 2 ? 40 : 25); i++) {
        String expected = popped + "-" + "x".repeat(popped % 100);
        assertEquals(expected, done("queue.peek", ""));
        assertEquals(expected, done("queue.pop", ""));
        popped++;
      }
    }
    for (; popped < pushed; popped++) {
      assertTrue(done("queue.pop", "").startsWith(popped + "-"));
    }
    fails(ErrorCode.CONDITION_FAILED, "queue.pop", "");
    assertEquals(0, operate(of(StepKind.READ_SIZE)).size());
    operate(append("no queue"));
    fails(ErrorCode.INVALID_ARGUMENT, "queue.pop", "");
  }

  @Test
  void aMethodThatFailsHalfWayDoesNothing() throws Exception {
    done("queue.push", "x".repeat(40_000));
    String more = "y".repeat(40_000);
    Operate.Response response = operate(callOf("queue.push", more).going(), append("z"));
    assertEquals(ErrorCode.NOT_KEPT.number(), response.results().get(0).code());
    assertEquals(40_005, response.size());
    fails(ErrorCode.UNSUPPORTED, "none.method", "");
    fails(ErrorCode.UNSUPPORTED, "nomethod", "");
  }

  /** Does what its tests want. */
  private static final class Own implements NodeClass {
    private final ManualClock clock;

    Own(ManualClock clock) {
      this.clock = clock;
    }

    @Override
    public String name() {
      return "own";
    }

    @Override
    public Decision call(String method, NodeView node, byte[] input, long nowMillis) {
      CompoundOperation.Builder steps = CompoundOperation.builder();
      switch (method) {
        case "slow" -> clock.advanceMillis(2);
        case "nothing" -> {
          return new Decision(null, input);
        }
        case "assert" -> throw new AssertionError("wrong");
        case "nested" -> steps.call("own.other", input);
        case "going" -> steps.append(input).orGoOn();
        case "wrong" -> throw new IllegalStateException("wrong");
        default -> steps.append(input);
      }
      return new Decision(steps.build(), new byte[method.equals("long") ? 70_000 : 0]);
    }
  }

  private static final NodeView NOTHING =
      new NodeView() {
        @Override
        public boolean exists() {
          return false;
        }

        @Override
        public long size() {
          return 0;
        }

        @Override
        public long version() {
          return 0;
        }

        @Override
        public long epoch() {
          return 0;
        }

        @Override
        public byte[] attribute(String name) {
          return null;
        }

        @Override
        public byte[] read(long position, int length) {
          return new byte[0];
        }
      };

  private static ErrorCode code(NodeClasses classes, String method) {
    try {
      classes.call(method, NOTHING, Steps.value("x"));
      return ErrorCode.OK;
    } catch (CrailException e) {
      return e.code();
    }
  }

  @Test
  void aClassThatIsSlowOrWrongIsSwitchedOff() {
    ManualClock clock = new ManualClock();
    NodeClasses slow = new NodeClasses(clock, List.of(new Own(clock)));
    assertEquals(ErrorCode.OK, code(slow, "own.other"));
    for (int i = 0; i < 3; i++) {
      assertEquals(ErrorCode.OK, code(slow, "own.slow"));
    }
    assertEquals(ErrorCode.UNSUPPORTED, code(slow, "own.other"));
    // A pause now and then does not count.
    NodeClasses pausing = new NodeClasses(clock, List.of(new Own(clock)));
    for (int i = 0; i < 20; i++) {
      assertEquals(ErrorCode.OK, code(pausing, i % 3 == 0 ? "own.other" : "own.slow"));
    }
    assertEquals(ErrorCode.UNSUPPORTED, code(pausing, "own.nested"));
    assertEquals(ErrorCode.UNSUPPORTED, code(pausing, "own.going"));
    assertEquals(ErrorCode.OK, code(pausing, "own.other"));
    for (String method : List.of("own.nothing", "own.assert")) {
      NodeClasses failing = new NodeClasses(clock, List.of(new Own(clock)));
      assertEquals(ErrorCode.UNSUPPORTED, code(failing, method));
      assertEquals(ErrorCode.UNSUPPORTED, code(failing, "own.other"));
    }
    NodeClasses wrong = new NodeClasses(clock, List.of(new Own(clock)));
    assertEquals(ErrorCode.LIMIT_EXCEEDED, code(wrong, "own.long"));
    assertEquals(ErrorCode.UNSUPPORTED, code(wrong, "own.wrong"));
    assertEquals(ErrorCode.UNSUPPORTED, code(wrong, "own.other"));
    // The others go on.
    assertEquals(ErrorCode.OK, code(wrong, "tag.advance"));
    List<NodeClass> two = List.of(new Own(clock), new Own(clock));
    assertThrows(IllegalArgumentException.class, () -> new NodeClasses(clock, two));
  }
}
