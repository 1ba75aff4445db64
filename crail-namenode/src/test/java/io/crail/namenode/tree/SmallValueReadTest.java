/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.TestStore;
import io.crail.namenode.Wire;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that readers see one whole value while values replace each other, and with them the bytes
 * in the memory that they share.
 */
@Tag("once")
class SmallValueReadTest {
  private static final int LENGTH = 60_000;
  private static final int ROUNDS = 8;
  private static final String[] KEYS = {"/t/a", "/t/b"};
  private static final long RUN_NANOS = 1_000_000_000L;
  private static final long MOST_NANOS = 60_000_000_000L;
  private static final int LEAST_READS = 200;

  private TestStore store;
  private final AtomicBoolean over = new AtomicBoolean();

  /** What a reader does; it returns whether it has read a value. */
  private interface Reader {
    boolean read(Wire wire) throws CrailException;
  }

  @BeforeEach
  void start() throws Exception {
    store = new TestStore("crail.namenode.smallvalue", "64k");
  }

  @AfterEach
  void everythingAddsUp() {
    store.namenode.verify();
  }

  /** Each byte tells the key in its first bit, and which put it was in the others. */
  private static SmallValue value(int key, int round) {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, (byte) (round << 1 | key));
    return SmallValue.of(bytes);
  }

  private static void assertWhole(int key, SmallValue value) {
    assertEquals(LENGTH, value.length());
    byte first = value.bytes()[0];
    assertEquals(key, first & 1, "the value of another key");
    for (byte each : value.bytes()) {
      assertEquals(first, each, "parts of two values");
    }
  }

  private void run(Reader reader) throws Exception {
    store.create(NodeType.TABLE, "/t", 0);
    Wire writing = Wire.connect(store.server, 1);
    Wire reading = Wire.connect(store.server, 2);
    List<Put.Request> puts = puts();
    writing.callAll(NameNodeOperations.PUT, puts);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try {
                while (!over.get()) {
                  writing.callAll(NameNodeOperations.PUT, puts);
                }
              } catch (CrailException e) {
                throw new IllegalStateException(e);
              }
            });
    long began = System.nanoTime();
    try {
      int reads = 0;
      long passed = 0;
      while (passed < RUN_NANOS || reads < LEAST_READS && passed < MOST_NANOS) {
        reads += reader.read(reading) ? 1 : 0;
        passed = System.nanoTime() - began;
      }
      assertTrue(reads >= LEAST_READS, reads + " reads");
    } finally {
      over.set(true);
    }
    writer.get(60, TimeUnit.SECONDS);
  }

  /** Each replaces the one before the last, whose memory the next one gets. */
  private static List<Put.Request> puts() {
    List<Put.Request> puts = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (int key = 0; key < KEYS.length; key++) {
        puts.add(TestStore.put(KEYS[key], 0, LENGTH, value(key, round)));
      }
    }
    return puts;
  }

  @Test
  void lookupsFindOneWholeValue() throws Exception {
    run(
        wire -> {
          List<Object> found =
              wire.callAll(
                  NameNodeOperations.LOOKUP,
                  Arrays.stream(KEYS).map(key -> new Lookup.Request(Utf8.of(key))).toList());
          for (int key = 0; key < KEYS.length; key++) {
            assertWhole(key, ((Lookup.Response) found.get(key)).value());
          }
          return true;
        });
  }

  @Test
  void readersOfANodeFindItsValueOrThatItIsGone() throws Exception {
    run(
        wire -> {
          long id =
              wire.call(NameNodeOperations.LOOKUP, new Lookup.Request(Utf8.of(KEYS[1])))
                  .node()
                  .id();
          try {
            FindExtents.Request request = new FindExtents.Request(id, 0, 1);
            assertWhole(1, wire.call(NameNodeOperations.FIND_EXTENTS, request).value());
            return true;
          } catch (CrailException e) {
            assertEquals(ErrorCode.STALE_NODE, e.code());
            return false;
          }
        });
  }
}
