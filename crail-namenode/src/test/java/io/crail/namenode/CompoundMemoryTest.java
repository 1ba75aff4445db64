/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Steps.add;
import static io.crail.namenode.Steps.append;
import static io.crail.namenode.Steps.attribute;
import static io.crail.namenode.Steps.create;
import static io.crail.namenode.Steps.limit;
import static io.crail.namenode.Steps.link;
import static io.crail.namenode.Steps.of;
import static io.crail.namenode.Steps.read;
import static io.crail.namenode.Steps.set;
import static io.crail.namenode.Steps.settle;
import static io.crail.namenode.Steps.write;
import static io.crail.namenode.Steps.writeFull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.StepKind;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Memory that ends anywhere within a list of steps: nothing of the list is applied, and nothing
 * stays taken. Each list gets a little more memory until it is done.
 */
@Timeout(60)
class CompoundMemoryTest {
  private static final int STEP = 64;
  private static final int VALUES = 16 << 10;
  private static final int STAGED = 10_000;
  private static final long TOKEN = 9;

  private TestStore store;
  private HeapBudget budget;

  @BeforeEach
  void start() throws Exception {
    store =
        new TestStore(
            "crail.namenode.smallvalues", String.valueOf(VALUES), "crail.namenode.memory", "256k");
    store.datanode(1 << 20);
    budget = store.namenode.budget();
    store.create(NodeType.TABLE, "/t", 0);
    store.create(NodeType.TABLE, "/empty", 0);
    // So that a remembered answer needs no more memory than before.
    operate("/t/k", create(), append("x".repeat(500)), set("a", "1"), read(0, 500));
    operate("/t/k", of(StepKind.READ_USAGE).going());
  }

  private Operate.Response operate(String path, CompoundStep... steps) throws CrailException {
    return store.call(
        NameNodeOperations.OPERATE, new Operate.Request(0640, Utf8.of(path), List.of(steps)));
  }

  private long stage(String path) throws CrailException {
    return store.call(NameNodeOperations.STAGE, TestStore.put(path, TOKEN, STAGED)).node().id();
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
                    read(0, 64 << 10).going(),
                    of(StepKind.READ_ATTRIBUTES).going(),
                    of(StepKind.READ_LIFETIME).going(),
                    of(StepKind.READ_USAGE).going())))
        .toString();
  }

  /** Returns how often the list was refused before there was enough heap for it. */
  private int refusals(String path, CompoundStep... steps) throws CrailException {
    String before = state(path);
    long used = budget.used();
    long values = store.namenode.smallValues().used();
    long all = budget.most() - used;
    for (int tries = 0; ; tries++) {
      long taken = all - (long) tries * STEP;
      budget.add(taken);
      CrailException refusal = null;
      try {
        Operate.Response done = operate(path, steps);
        assertEquals(Operate.NONE_FAILED, done.failed(), done.toString());
      } catch (CrailException e) {
        refusal = e;
      }
      budget.give(taken);
      if (refusal == null) {
        store.namenode.verify();
        return tries;
      }
      assertTrue(
          refusal.code() == ErrorCode.LIMIT_EXCEEDED || refusal.code() == ErrorCode.NO_SPACE,
          refusal.toString());
      assertTrue(taken > 0, refusal.toString());
      assertEquals(before, state(path), () -> tries(path, steps));
      assertEquals(used, budget.used(), () -> tries(path, steps));
      assertEquals(values, store.namenode.smallValues().used());
      if (tries % 16 == 0) {
        store.namenode.verify();
      }
    }
  }

  private static String tries(String path, CompoundStep... steps) {
    return path + " " + Arrays.toString(steps);
  }

  @Test
  void withoutHeapNothingIsApplied() throws Exception {
    CompoundStep expires = of(StepKind.EXPIRE, 10_000);
    List<Integer> tries = new ArrayList<>();
    tries.add(
        refusals(
            "/t/new",
            create(),
            append("a"),
            append("b".repeat(900)),
            set("a", "1"),
            add("n", 5),
            of(StepKind.RAISE_EPOCH, 4),
            expires));
    tries.add(refusals("/t/k", append("c".repeat(2000))));
    tries.add(refusals("/t/k", append("c"), set("b", "long".repeat(50)), expires));
    tries.add(refusals("/t/k", writeFull("d".repeat(4000)), add("n", 1)));
    tries.add(
        refusals("/t/k", write(3000, "e".repeat(2000)), attribute(StepKind.REMOVE_ATTRIBUTE, "a")));
    tries.add(
        refusals("/t/k", of(StepKind.DELETE), create(), append("f".repeat(5000)), set("a", "1")));
    tries.add(refusals("/empty", limit(-1, 100), set("a", "1")));
    tries.add(refusals("/t", of(StepKind.EXPIRE_CHILDREN, 10_000)));
    System.out.println("refusals " + tries);
    // Each of them takes some heap.
    tries.forEach(each -> assertTrue(each > 0, tries.toString()));
  }

  @Test
  void withoutHeapNothingIsLinked() throws Exception {
    List<Integer> tries = new ArrayList<>();
    tries.add(refusals("/t/k", set("c", "1"), settle(stage("/t/k"), TOKEN, 500)));
    tries.add(
        refusals("/t/k", link(stage("/t/k"), TOKEN, STAGED, true), set("d", "long".repeat(50))));
    tries.add(
        refusals("/t/k", set("e", "long".repeat(50)), link(stage("/t/k"), TOKEN, STAGED, false)));
    tries.add(
        refusals("/t/new", create(), link(stage("/t/new"), TOKEN, STAGED, false), set("a", "1")));
    System.out.println("refusals " + tries);
    tries.forEach(each -> assertTrue(each > 0, tries.toString()));
  }

  /** The memory of values outside the heap ends. */
  @Test
  void withoutMemoryForValuesNothingIsApplied() throws Exception {
    int refused = 0;
    for (CompoundStep[] steps :
        List.of(
            new CompoundStep[] {set("a", "2"), append("c".repeat(3000)), add("n", 1)},
            new CompoundStep[] {append("d"), append("e".repeat(4000)), set("b", "2")},
            new CompoundStep[] {of(StepKind.DELETE), create(), append("f".repeat(6000))})) {
      String before = state("/t/k");
      boolean isDone = false;
      for (int filler = VALUES; !isDone; filler -= 512) {
        assertTrue(filler >= 0, "it is refused with all memory");
        fill(filler);
        long used = budget.used();
        long values = store.namenode.smallValues().used();
        try {
          operate("/t/k", steps);
          isDone = true;
        } catch (CrailException e) {
          refused++;
          assertEquals(ErrorCode.NO_SPACE, e.code(), e.toString());
          assertEquals(before, state("/t/k"));
          assertEquals(used, budget.used());
          assertEquals(values, store.namenode.smallValues().used());
        }
        store.namenode.verify();
      }
      store.remove("/t/filler", false);
    }
    assertTrue(refused > 10, refused + " refusals");
  }

  /** Takes so much memory of values, or as much as there is. */
  private void fill(int bytes) throws CrailException {
    for (int length = bytes; length > 0; length -= 512) {
      try {
        operate("/t/filler", create().going(), writeFull("x".repeat(length)));
        return;
      } catch (CrailException e) {
        assertEquals(ErrorCode.NO_SPACE, e.code(), e.toString());
      }
    }
  }
}
