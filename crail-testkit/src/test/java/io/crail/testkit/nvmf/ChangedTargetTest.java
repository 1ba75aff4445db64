/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Targets that come back as something else, or have no controller for a while. */
@Tag("once")
class ChangedTargetTest extends TargetClient {
  /** What stands in a namespace's place; all but one have the label and the data of before. */
  private enum Change {
    ANOTHER_DEVICE(512, 5 * MIB, "namespace 1 is another device: "),
    EMPTY(1024, 5 * MIB, "namespace 1 "),
    LONGER_BLOCKS(4096, 5 * MIB, "namespace 1 has blocks of 4096 bytes in place of 1024"),
    SHORTER_BLOCKS(512, 5 * MIB, "namespace 1 has blocks of 512 bytes in place of 1024"),
    SHORTER(1024, 5 * MIB - 1024, "namespace 1 has shrunk to 5241856 bytes"),
    ANOTHER_NUMBER(1024, 5 * MIB, "there is no namespace 1");

    private final int sector;
    private final int length;
    private final String words;

    Change(int sector, int length, String words) {
      this.sector = sector;
      this.length = length;
      this.words = words;
    }

    TargetNamespace of(TargetNamespace before) throws IOException {
      int number = this == ANOTHER_NUMBER ? 2 : 1;
      TargetNamespace after = new TargetNamespace(number, length / sector, sector);
      if (this != EMPTY) {
        after.write(0, before.read(0, length));
      }
      after.identity(this == ANOTHER_DEVICE ? 77 : 1);
      return after;
    }
  }

  private final LoggedWarnings log = new LoggedWarnings();

  @AfterEach
  void closeLog() {
    log.close();
  }

  /** A busy machine must not look like what is tested. */
  @Override
  Configuration settings(NvmeTarget... behind) {
    return super.settings(behind).toBuilder().set(NvmfStorageKeys.CONNECT_TIMEOUT, "20s").build();
  }

  @ParameterizedTest
  @EnumSource(Change.class)
  void aChangedTargetIsRefused(Change change) throws Exception {
    NvmeTarget target = target(1024);
    StorageEndpoint endpoint = endpoint(target);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    target.down();
    TargetNamespace before = target.namespace(1);
    TargetNamespace after = change.of(before);
    target.remove(1);
    target.add(after);
    byte[] untouched = after.read(0, change.length);
    target.up();
    for (int i = 0; i < 3; i++) {
      // The first read goes over the lost connection first.
      for (boolean write : new boolean[] {false, true}) {
        Transfer transfer = begin(endpoint, write, Moves.memory(3000, random), 0, PATIENCE);
        // A target that has lost a namespace may get it back.
        assertEquals(
            change == Change.ANOTHER_NUMBER ? ErrorCode.UNAVAILABLE : ErrorCode.DATA_LOST,
            end(transfer));
        assertSays(transfer.failure().getMessage(), change.words, target.nqn());
      }
    }
    if (change == Change.ANOTHER_NUMBER) {
      int connections = target.connections();
      await(() -> target.connections() > connections + 1, "the datanode does not try again");
      assertEquals(1, log.count(change.words + "; cannot connect again yet"));
    } else {
      await(() -> server.failure().isPresent(), "the datanode does not notice");
      assertSays(server.failure().get(), change.words, target.nqn());
    }
    // Longer than from one sign of life of a datanode to the next.
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1200));
    server.close();
    assertArrayEquals(untouched, after.read(0, change.length));
    target.down();
    target.remove(after.number());
    target.add(before);
    target.up();
    ByteBuffer read = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, read, 0, PATIENCE)));
    assertArrayEquals(Moves.bytes(bytes, 0, 3000), Moves.bytes(read, 0, 3000));
  }

  private static void assertSays(String message, String... words) {
    for (String each : words) {
      assertTrue(message.contains(each), message);
    }
  }

  private static void await(BooleanSupplier condition, String otherwise) {
    long end = System.nanoTime() + PATIENCE;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, otherwise);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** Answers connects of a queue with a status as long as there is a number left. */
  private static AtomicInteger refuse(NvmeTarget target, int queueNumber, int status) {
    AtomicInteger left = new AtomicInteger();
    target.bend(
        (wire, queue, entry) -> {
          boolean connects = entry.get(0) == 0x7f && entry.get(4) == 1;
          if (!connects || entry.getShort(42) != queueNumber || left.getAndDecrement() <= 0) {
            return false;
          }
          wire.completion(entry.getShort(2), status, 0);
          return true;
        });
    return left;
  }

  private static final String BUSY =
      "the controller is in use, or there is no free one (status 0x181)";

  /** Linux' target says so with the bit that asks hosts not to try again. */
  @ParameterizedTest
  @CsvSource({"0, 0x181", "0, 0x4181", "1, 0x4181"})
  void aBusyTargetIsTriedAgain(int queue, int status) throws Exception {
    NvmeTarget target = target(512);
    AtomicInteger left = refuse(target, queue, status);
    TestHost.Start start = TestHost.Start.at(target);
    left.set(1);
    try (TestHost host = new TestHost(start)) {
      String lost = assertThrows(TestHost.Lost.class, host::controller).getMessage();
      String connect = queue == 0 ? "connect: " : "connect of the I/O queue: ";
      assertEquals("the target refuses the " + connect + BUSY, lost);
    }
    StorageEndpoint endpoint = endpoint(target);
    // One less than the attempts of an endpoint.
    left.set(3);
    ByteBuffer bytes = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, 0, PATIENCE)));
    assertTrue(left.get() <= 0);
    left.set(Integer.MAX_VALUE);
    target.cut();
    Transfer read = begin(endpoint, false, Moves.memory(3000, random), 0, PATIENCE);
    assertEquals(ErrorCode.UNAVAILABLE, end(read));
    assertSays(read.failure().getMessage(), BUSY, target.address().getPort() + "");
    // Those of the datanode among them, which pauses longer.
    await(() -> left.get() < Integer.MAX_VALUE - 5, "the datanode gives up");
    assertTrue(server.failure().isEmpty(), server.failure().toString());
    left.set(0);
    await(() -> target.open() >= 2, "the datanode does not come back");
    ByteBuffer again = Moves.memory(3000, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, false, again, 0, PATIENCE)));
    assertArrayEquals(Moves.bytes(bytes, 0, 3000), Moves.bytes(again, 0, 3000));
    assertTrue(server.failure().isEmpty(), server.failure().toString());
  }

  /** As one that is not there: whoever starts it sees the reason at once. */
  @Test
  void aDatanodeDoesNotStartAtABusyTarget() throws Exception {
    NvmeTarget target = target(512);
    refuse(target, 0, 0x4181).set(1);
    StorageServer refused = new NvmfStorageTier().createServer(settings(target), List.of());
    String why =
        assertThrows(IOException.class, () -> refused.start(UUID.randomUUID())).getMessage();
    assertSays(why, BUSY, target.nqn());
    StorageServer next = new NvmfStorageTier().createServer(settings(target), List.of());
    open.add(next);
    next.start(UUID.randomUUID());
    assertFalse(next.regions().isEmpty());
  }
}
