/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.Steps.add;
import static io.crail.namenode.Steps.append;
import static io.crail.namenode.Steps.attribute;
import static io.crail.namenode.Steps.create;
import static io.crail.namenode.Steps.of;
import static io.crail.namenode.Steps.read;
import static io.crail.namenode.Steps.set;
import static io.crail.namenode.Steps.write;
import static io.crail.namenode.Steps.writeFull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.StepKind;
import io.crail.namenode.rule.CompoundRule;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.StepResult;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Compound operations: guards, changes and reads of one node, all at once or none. */
class CompoundTest {
  private static final int MOST = 64 << 10;

  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore();
    store.datanode(1 << 20);
    store.create(NodeType.TABLE, "/t", 0);
  }

  /** All that was taken belongs to a node. */
  @AfterEach
  void nothingIsLost() {
    store.namenode.verify();
  }

  private Operate.Response operate(String path, CompoundStep... steps) throws CrailException {
    return store.call(
        NameNodeOperations.OPERATE, new Operate.Request(0640, Utf8.of(path), List.of(steps)));
  }

  private Operate.Response done(String path, CompoundStep... steps) throws CrailException {
    Operate.Response response = operate(path, steps);
    assertEquals(Operate.NONE_FAILED, response.failed(), response.toString());
    return response;
  }

  private void fails(ErrorCode code, int step, String path, CompoundStep... steps)
      throws CrailException {
    String before = state(path);
    Operate.Response response = operate(path, steps);
    assertEquals(step, response.failed(), response.toString());
    assertEquals(step + 1, response.results().size());
    assertEquals(code.number(), response.results().get(step).code());
    assertEquals(before, state(path));
  }

  private static String text(StepResult result) {
    return new String(result.data().bytes(), StandardCharsets.UTF_8);
  }

  /** All that a client can learn of a node. */
  private String state(String path) throws CrailException {
    return store
        .call(
            NameNodeOperations.OPERATE_READ,
            new Operate.Request(
                0,
                Utf8.of(path),
                List.of(
                    of(StepKind.EXISTS).going(),
                    read(0, MOST).going(),
                    of(StepKind.READ_ATTRIBUTES).going())))
        .toString();
  }

  private String bytes(String path) throws CrailException {
    return text(done(path, read(0, MOST)).results().get(0));
  }

  @Test
  void aListMakesANode() throws Exception {
    Operate.Response made =
        done("/t/k", of(StepKind.ABSENT), create(), append("ab"), append("c"), add("n", 7));
    assertEquals(3, made.size());
    assertEquals(1, made.version());
    assertEquals(3, made.results().get(3).number());
    NodeInfo node = store.lookup("/t/k").node();
    assertEquals(made.id(), node.id());
    assertEquals(0640, node.permissions());
    assertEquals(NodeType.KEYVALUE, node.type());
    assertEquals(NodeInfo.ENUMERABLE | NodeInfo.EXTENDED, node.flags());
    assertEquals("abc", new String(store.lookup("/t/k").value().bytes(), StandardCharsets.UTF_8));
    fails(ErrorCode.NODE_EXISTS, 1, "/t/k", of(StepKind.EXISTS), create());
    // An empty one has a value too.
    assertEquals(0, done("/t/empty", create()).size());
    assertEquals(2, store.list(store.lookup("/t").node().id(), 10).size());
  }

  @Test
  void whatFailsChangesNothing() throws Exception {
    done("/t/k", create(), append("abc"), set("a", "1"));
    fails(ErrorCode.CONDITION_FAILED, 2, "/t/k", append("d"), set("a", "2"), of(StepKind.ABSENT));
    fails(
        ErrorCode.CONDITION_FAILED, 2, "/t/k", of(StepKind.DELETE), create(), of(StepKind.SIZE, 3));
    fails(ErrorCode.NODE_NOT_FOUND, 0, "/t/other", append("x"));
    fails(ErrorCode.CONDITION_FAILED, 2, "/t/new", create(), append("x"), of(StepKind.SIZE, 7));
    assertEquals("abc", bytes("/t/k"));
    assertEquals(1, done("/t/k", of(StepKind.READ_SIZE)).version());
  }

  @Test
  void eachStepSeesWhatThoseBeforeItHaveDone() throws Exception {
    Operate.Response done =
        done(
            "/t/k",
            create(),
            append("hello"),
            read(1, 3),
            write(7, "x"),
            read(0, 100),
            of(StepKind.TRUNCATE, 2),
            append("y"),
            of(StepKind.TRUNCATE, 5),
            read(0, 100),
            writeFull("z"),
            of(StepKind.READ_SIZE),
            of(StepKind.RAISE_EPOCH, 4),
            of(StepKind.EPOCH, 4));
    assertEquals("ell", text(done.results().get(2)));
    assertEquals("hello\0\0x", text(done.results().get(4)));
    assertEquals("hey\0\0", text(done.results().get(8)));
    assertEquals(1, done.results().get(10).number());
    assertEquals("z", bytes("/t/k"));
    assertEquals(4, done.epoch());
    assertEquals(1, done.version());
    assertEquals("", text(done("/t/k", read(1, 5)).results().get(0)));
  }

  @Test
  void bytesAreAddedAndOverwritten() throws Exception {
    done("/t/k", create());
    StringBuilder expected = new StringBuilder();
    for (int i = 0; expected.length() < MOST - 1000; i++) {
      String more = String.valueOf(i).repeat(1 + i % 97);
      expected.append(more);
      assertEquals(expected.length(), done("/t/k", append(more)).results().get(0).number());
    }
    assertEquals(expected.toString(), bytes("/t/k"));
    store.namenode.verify();
    done("/t/k", write(10, "overwritten"), append("end"));
    expected.replace(10, 21, "overwritten").append("end");
    assertEquals(expected.toString(), bytes("/t/k"));
    fails(ErrorCode.NOT_KEPT, 0, "/t/k", append("x".repeat(MOST - expected.length() + 1)));
    done("/t/k", append("x".repeat(MOST - expected.length())));
    fails(ErrorCode.NOT_KEPT, 0, "/t/k", append("x"));
    fails(ErrorCode.NOT_KEPT, 0, "/t/k", write(MOST, "x"));
    fails(ErrorCode.NOT_KEPT, 0, "/t/k", write(Long.MAX_VALUE, "x"));
    fails(ErrorCode.INVALID_ARGUMENT, 0, "/t/k", write(-1, "x"));
    fails(ErrorCode.INVALID_ARGUMENT, 0, "/t/k", of(StepKind.TRUNCATE, -1));
    done("/t/k", read(Long.MAX_VALUE, Integer.MAX_VALUE));
    fails(ErrorCode.NOT_KEPT, 0, "/t/k", of(StepKind.TRUNCATE, MOST + 1));
    done("/t/k", of(StepKind.TRUNCATE, 0));
    assertEquals("", bytes("/t/k"));
  }

  @Test
  void guardsCompare() throws Exception {
    Operate.Response made = done("/t/k", create(), append("abc"), set("s", "m"), set("n", "10"));
    Comparison[] holding = {
      Comparison.AT_MOST, Comparison.AT_LEAST, Comparison.EQUAL,
      Comparison.LESS, Comparison.AT_MOST, Comparison.NOT_EQUAL,
      Comparison.GREATER, Comparison.AT_LEAST, Comparison.NOT_EQUAL
    };
    // What is there is equal to the first, less than the second, greater than the third.
    String[][] others = {
      {"SIZE", "3", "4", "2"},
      {"VERSION", "1", "2", "0"},
      {"EPOCH", "0", "1", "-1"},
      {"ATTRIBUTE_NUMBER", "10", "11", "9"},
      {"ATTRIBUTE", "m", "n", "l"},
      {"BYTES", "bc", "bd", "ab"}
    };
    for (String[] other : others) {
      for (int side = 0; side < 3; side++) {
        for (Comparison comparison : Comparison.values()) {
          boolean holds = List.of(holding).subList(3 * side, 3 * side + 3).contains(comparison);
          StepKind kind = StepKind.valueOf(other[0]);
          CompoundStep guard = guard(kind, comparison, other[1 + side]);
          Operate.Response response = operate("/t/k", guard);
          assertEquals(holds ? Operate.NONE_FAILED : 0, response.failed(), guard.toString());
        }
      }
    }
    done("/t/k", of(StepKind.ID, made.id()), attribute(StepKind.HAS_ATTRIBUTE, "s"));
    done("/t/k", attribute(StepKind.LACKS_ATTRIBUTE, "x"));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", of(StepKind.ID, made.id() + 1));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", attribute(StepKind.HAS_ATTRIBUTE, "x"));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", attribute(StepKind.LACKS_ATTRIBUTE, "s"));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", attribute(StepKind.READ_ATTRIBUTE, "x"));
    for (Comparison comparison : Comparison.values()) {
      CompoundStep missing = of(StepKind.ATTRIBUTE, comparison, 0, 0, "x", "", "");
      fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", missing);
    }
  }

  private static CompoundStep guard(StepKind kind, Comparison comparison, String value) {
    return switch (kind) {
      case ATTRIBUTE -> of(kind, comparison, 0, 0, "s", value, "");
      case ATTRIBUTE_NUMBER -> of(kind, comparison, Long.parseLong(value), 0, "n", "", "");
      case BYTES -> of(kind, comparison, 1, 0, "", value, "");
      default -> of(kind, comparison, Long.parseLong(value));
    };
  }

  @Test
  void attributesAreKeptInTheOrderOfTheirNames() throws Exception {
    done("/t/k", create(), set("b", "2"), set("c", "3"), set("a", "1"));
    Operate.Response counted = done("/t/k", add("n", 5), add("n", -7));
    assertEquals(-2, counted.results().get(1).number());
    CompoundStep swap = of(StepKind.REPLACE_ATTRIBUTE, Comparison.EQUAL, 0, 0, "b", "4", "2");
    done("/t/k", swap, attribute(StepKind.REMOVE_ATTRIBUTE, "c"));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", swap);
    assertEquals("4", text(done("/t/k", attribute(StepKind.READ_ATTRIBUTE, "b")).results().get(0)));
    assertEquals(3, done("/t/k", of(StepKind.READ_ATTRIBUTES)).results().get(0).number());
    fails(ErrorCode.INVALID_ARGUMENT, 0, "/t/k", set("", "x"));
    done("/t/k", set("x".repeat(255), "x"), attribute(StepKind.REMOVE_ATTRIBUTE, "x".repeat(255)));
    done("/t/k", set("word", "x"), set("much", String.valueOf(Long.MAX_VALUE)));
    fails(ErrorCode.INVALID_ARGUMENT, 0, "/t/k", add("word", 1));
    fails(ErrorCode.OUT_OF_RANGE, 0, "/t/k", add("much", 1));
    fails(ErrorCode.LIMIT_EXCEEDED, 0, "/t/k", set("long", "x".repeat(MOST)));
    // They are for nodes of every type.
    store.mkdir("/d");
    store.file("/d/f");
    done("/d", set("a", "1"), of(StepKind.RAISE_EPOCH, 3));
    done("/d/f", set("a", "1"), of(StepKind.SIZE, 0));
    store.remove("/d", true);
  }

  @Test
  void aSealedNodeRefusesOldWriters() throws Exception {
    done("/t/k", create());
    CompoundStep guard = of(StepKind.EPOCH, Comparison.AT_MOST, 1);
    done("/t/k", guard, append("a"));
    done("/t/k", of(StepKind.RAISE_EPOCH, 2));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", guard, append("b"));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", of(StepKind.RAISE_EPOCH, 2));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", of(StepKind.RAISE_EPOCH, 1));
    done("/t/k", of(StepKind.EPOCH, Comparison.AT_MOST, 2), append("c"));
    assertEquals("ac", bytes("/t/k"));
  }

  @Test
  void aStepMayFailWithoutEndingTheList() throws Exception {
    Operate.Response done =
        done("/t/k", create().going(), create().going(), append("a"), read(-1, 1).going());
    assertEquals(ErrorCode.NODE_EXISTS.number(), done.results().get(1).code());
    assertEquals(ErrorCode.INVALID_ARGUMENT.number(), done.results().get(3).code());
    assertEquals("a", bytes("/t/k"));
    assertEquals(2, done("/t/k", create().going(), append("b")).size());
  }

  @Test
  void aNodeIsRemovedAndMadeAgain() throws Exception {
    long first = done("/t/k", create(), append("old"), set("a", "1")).id();
    Operate.Response again = done("/t/k", of(StepKind.DELETE), create(), append("new"));
    assertNotEquals(first, again.id());
    assertEquals("new", bytes("/t/k"));
    fails(ErrorCode.CONDITION_FAILED, 0, "/t/k", attribute(StepKind.HAS_ATTRIBUTE, "a"));
    assertEquals(0, done("/t/k", of(StepKind.DELETE)).id());
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/t/k"));
    fails(ErrorCode.NODE_NOT_FOUND, 0, "/t/k", of(StepKind.DELETE));
    // What was made and removed by one list was never there.
    assertEquals(0, done("/t/k", create(), append("x"), of(StepKind.DELETE)).id());
  }

  @Test
  void aPutBeginsAnew() throws Exception {
    done("/t/k", create(), append("old"), set("a", "1"), of(StepKind.RAISE_EPOCH, 9));
    store.call(NameNodeOperations.PUT, TestStore.put("/t/k", 0, new byte[5]));
    Operate.Response read = done("/t/k", of(StepKind.READ_ATTRIBUTES));
    assertEquals(0, read.results().get(0).number());
    assertEquals(0, read.epoch());
    assertEquals(5, read.size());
    assertEquals(6, done("/t/k", append("x")).size());
  }

  @Test
  void renamesTakeItAlong() throws Exception {
    done("/t/k", create(), append("x"), of(StepKind.RAISE_EPOCH, 9));
    store.rename("/t/k", "/t/l");
    assertEquals(9, done("/t/l", of(StepKind.EXISTS)).epoch());
    fails(ErrorCode.NODE_NOT_FOUND, 0, "/t/k", of(StepKind.EXISTS));
  }

  @Test
  void onlyBytesThatTheNamenodeKeepsAreChanged() throws Exception {
    store.mkdir("/d");
    store.write("/d/f", 10_000);
    fails(ErrorCode.WRONG_TYPE, 0, "/d/f", append("x"));
    fails(ErrorCode.NOT_KEPT, 0, "/d/f", read(0, 10));
    done("/d/f", of(StepKind.SIZE, 10_000), set("a", "1"));
    assertEquals(10_000, store.lookup("/d/f").node().size());
    assertEquals(1, store.lookup("/d/f").extents().size());
    refused(ErrorCode.WRONG_TYPE, () -> operate("/d/new", create()));
    refused(ErrorCode.WRONG_TYPE, () -> operate("/d", of(StepKind.DELETE)));
    refused(ErrorCode.PARENT_NOT_FOUND, () -> operate("/no/k", create()));
    refused(ErrorCode.ROOT, () -> operate("/", of(StepKind.EXISTS)));
    done("/d/f", of(StepKind.DELETE));
    // A writer has the key.
    long id = store.create(NodeType.KEYVALUE, "/t/w", 5).id();
    fails(ErrorCode.WRITE_LEASE_HELD, 0, "/t/w", append("x"));
    done("/t/w", set("a", "1"));
    store.extend(id, 5, 0, 70_000);
    store.setSize(id, 5, 70_000, SetSize.END);
    Operate.Response large = done("/t/w", of(StepKind.SIZE, 70_000));
    // Streams count too, once there is a version.
    assertEquals(2, large.version());
    fails(ErrorCode.NOT_KEPT, 0, "/t/w", append("x"));
  }

  @Test
  void listsHaveLimits() throws Exception {
    refused(ErrorCode.INVALID_ARGUMENT, () -> operate("/t/k"));
    CompoundStep[] many = new CompoundStep[Operate.MAX_STEPS + 1];
    Arrays.fill(many, of(StepKind.ABSENT));
    refused(ErrorCode.INVALID_ARGUMENT, () -> operate("/t/k", many));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () ->
            store.call(
                NameNodeOperations.OPERATE_READ,
                new Operate.Request(0, Utf8.of("/t/k"), List.of(create()))));
    done("/t/k", create(), append("x".repeat(MOST)));
    fails(ErrorCode.LIMIT_EXCEEDED, 1, "/t/k", read(0, MOST), read(0, 5000));
    CompoundStep[] most = new CompoundStep[Operate.MAX_STEPS];
    Arrays.fill(most, read(0, MOST).going());
    Operate.Response full = operate("/t/k", most);
    assertEquals(Operate.MAX_STEPS, full.results().size());
    assertEquals(ErrorCode.LIMIT_EXCEEDED.number(), full.results().get(1).code());
  }

  @Test
  void looksLeaveRoomForLongPaths() throws Exception {
    String deep = "/" + "a".repeat(255) + "/" + "b".repeat(255) + "/" + "c".repeat(255);
    store.mkdir("/" + "a".repeat(255));
    store.mkdir("/" + "a".repeat(255) + "/" + "b".repeat(255));
    store.mkdir(deep);
    store.mkdir(deep + "/d");
    done(deep + "/d/" + "e".repeat(250), of(StepKind.ABSENT));
    // Nothing below it is in the way of a longer name.
    store.rename(deep + "/d", deep + "/" + "d".repeat(200));
  }

  @Test
  void withoutMemoryNothingIsApplied() throws Exception {
    store = new TestStore("crail.namenode.smallvalues", "4096");
    store.create(NodeType.TABLE, "/t", 0);
    done("/t/k", create(), append("x".repeat(2000)), set("a", "1"));
    String before = state("/t/k");
    refused(ErrorCode.NO_SPACE, () -> operate("/t/k", set("a", "2"), append("x".repeat(4000))));
    assertEquals(before, state("/t/k"));
    refused(ErrorCode.NO_SPACE, () -> operate("/t/l", create(), append("x".repeat(3000))));
    refused(ErrorCode.NODE_NOT_FOUND, () -> store.lookup("/t/l"));
    done("/t/k", append("x"));
  }

  @Test
  void listsThatFailAreCountedByTheErrorOfTheStep() throws Exception {
    CompoundRule rule = store.namenode.rules().compound();
    done("/t/k", create(), create().going(), append("x"));
    assertEquals(0, rule.failures(ErrorCode.NODE_EXISTS));
    operate("/t/k", create());
    operate("/t/k", append("y"), of(StepKind.VERSION, 7));
    operate("/t/k", of(StepKind.EPOCH, 1));
    state("/t/k");
    refused(ErrorCode.PARENT_NOT_FOUND, () -> operate("/no/k", create()));
    assertEquals(1, rule.failures(ErrorCode.NODE_EXISTS));
    assertEquals(2, rule.failures(ErrorCode.CONDITION_FAILED));
    assertEquals(0, rule.failures(ErrorCode.PARENT_NOT_FOUND));
  }
}
