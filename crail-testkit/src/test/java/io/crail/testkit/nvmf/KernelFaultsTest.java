/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.NvmeTransport;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the NVMf tier when the kernel's target, or the way to it, is gone for a while. */
@Tag("rdma")
@TwoHosts
class KernelFaultsTest extends FlashClient {
  private static final int LENGTH = 60_000;
  private static final long SHORT = 30_000_000L;

  /** Bytes for each transfer; there are sweeps among few transfers in an emulated machine. */
  private static final int MOST_ALLOCATED = 200;

  /** Longer than {@link #SHORT}, and shorter than a claim of a namespace waits. */
  private static final int DELAY_MILLIS = 100;

  private KernelSubsystem subsystem;

  @Override
  void stopped() throws Exception {
    subsystem.close();
  }

  private StorageEndpoint endpoint(NvmeTransport over, int millis) throws Exception {
    subsystem = new KernelSubsystem(Duration.ofMillis(millis), 5 * MIB, 512);
    Configuration settings =
        Configuration.builder()
            .set(NvmfStorageKeys.TARGETS, subsystem.text(over))
            .set(NvmfStorageKeys.KEEP_ALIVE, KernelTarget.KEEP_ALIVE)
            .set(NvmfStorageKeys.CONNECT_TIMEOUT, "10s")
            .build();
    return endpoint(settings);
  }

  private Transfer begin(StorageEndpoint endpoint, boolean write, ByteBuffer buffer, long nanos) {
    return begin(endpoint, write, buffer, 0, nanos);
  }

  private void assertReads(StorageEndpoint endpoint, ByteBuffer expected) throws Exception {
    ByteBuffer read = Moves.memory(LENGTH, random);
    long until = loop.clock().nanoTime() + PATIENCE;
    // While the target comes back, an attempt may still find no target.
    ErrorCode code = end(begin(endpoint, false, read, PATIENCE));
    while (code == ErrorCode.UNAVAILABLE && loop.clock().nanoTime() - until < 0) {
      code = end(begin(endpoint, false, read, PATIENCE));
    }
    assertEquals(ErrorCode.OK, code);
    assertArrayEquals(Moves.bytes(expected, 0, LENGTH), Moves.bytes(read, 0, LENGTH));
  }

  @ParameterizedTest
  @EnumSource
  void aTargetThatWasDownIsUsedAgain(NvmeTransport over) throws Exception {
    StorageEndpoint endpoint = endpoint(over, 0);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    subsystem.down();
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, true, bytes, PATIENCE)));
    assertEquals(ErrorCode.UNAVAILABLE, end(begin(endpoint, false, bytes, PATIENCE)));
    subsystem.up();
    assertReads(endpoint, bytes);
  }

  /** The target's device places the data of a read itself, and must find no reader. */
  @ParameterizedTest
  @EnumSource
  void dataAfterTheDeadlineFindNoMemory(NvmeTransport over) throws Exception {
    StorageEndpoint endpoint = endpoint(over, DELAY_MILLIS);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    ByteBuffer late = Moves.memory(LENGTH, random);
    byte[] before = Moves.bytes(late, 0, LENGTH);
    assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, false, late, SHORT)));
    assertReads(endpoint, bytes);
    assertArrayEquals(before, Moves.bytes(late, 0, LENGTH));
  }

  @Test
  @Timeout(120)
  void aDeviceThatIsRemovedWithRequestsInFlightIsLetGo() throws Exception {
    StorageEndpoint endpoint = endpoint(NvmeTransport.RDMA, DELAY_MILLIS);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    CompletableFuture<String> removed = new CompletableFuture<>();
    int told = 0;
    try {
      removed.completeAsync(() -> remove(RdmaHost.CLIENT_DEVICE));
      while (!removed.isDone() || told == 0) {
        List<Transfer> underWay = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
          boolean write = i % 2 == 0;
          ByteBuffer memory = write ? bytes : Moves.memory(LENGTH, random);
          underWay.add(begin(endpoint, write, memory, PATIENCE));
        }
        for (Transfer transfer : underWay) {
          ErrorCode code = end(transfer);
          assertTrue(code == ErrorCode.OK || code == ErrorCode.UNAVAILABLE, code.toString());
          told += code == ErrorCode.UNAVAILABLE ? 1 : 0;
        }
      }
    } finally {
      RdmaHost.run("rdma", "link", "add", RdmaHost.CLIENT_DEVICE, "type", "rxe", "netdev", "rv0");
    }
    assertReads(endpoint, bytes);
  }

  private static String remove(String device) {
    try {
      return RdmaHost.run("rdma", "link", "delete", device);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Short data are copied, and memory that is long and known is not registered again. */
  @ParameterizedTest
  @CsvSource({"0, 4096", "0, 65536"})
  void aClientAllocatesLittle(int offset, int length) throws Exception {
    assertAllocatesAtMost(MOST_ALLOCATED, endpoint(NvmeTransport.RDMA, 0), offset, length);
  }

  /** The kernel pins no memory for a device's writes that may not be written. */
  @Test
  void reportsMemoryThatCannotBeRegistered(@TempDir Path directory) throws Exception {
    StorageEndpoint endpoint = endpoint(NvmeTransport.RDMA, 0);
    Path file = Files.write(directory.resolve("bytes"), new byte[LENGTH]);
    try (FileChannel channel = FileChannel.open(file)) {
      ByteBuffer readOnly = channel.map(FileChannel.MapMode.READ_ONLY, 0, LENGTH);
      assertEquals(ErrorCode.LIMIT_EXCEEDED, end(begin(endpoint, true, readOnly, PATIENCE)));
    }
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    assertReads(endpoint, bytes);
  }

  @Test
  void aTargetThatIsNotHeardIsLeft() throws Exception {
    StorageEndpoint endpoint = endpoint(NvmeTransport.RDMA, 0);
    ByteBuffer bytes = Moves.memory(LENGTH, random);
    assertEquals(ErrorCode.OK, end(begin(endpoint, true, bytes, PATIENCE)));
    ByteBuffer late = Moves.memory(LENGTH, random);
    byte[] before = Moves.bytes(late, 0, LENGTH);
    RdmaHost.answersArrive(false);
    try {
      assertEquals(ErrorCode.TIMED_OUT, end(begin(endpoint, false, late, 30 * SHORT)));
    } finally {
      RdmaHost.answersArrive(true);
    }
    assertReads(endpoint, bytes);
    assertArrayEquals(before, Moves.bytes(late, 0, LENGTH));
  }
}
