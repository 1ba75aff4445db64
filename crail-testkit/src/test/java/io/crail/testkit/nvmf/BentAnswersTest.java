/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Targets that ask for data, send data and end commands as they must not, or as they rarely do. */
@Tag("once")
class BentAnswersTest {
  private static final int READ = 0x02;
  private static final int WRITE = 0x01;
  private static final int SECTOR = 512;
  private static final int INTERNAL = 0x006;

  /** Bytes on both sides of a buffer that must not be touched. */
  private static final int GUARD = 4096;

  private static final int LAST = TargetWire.LAST;
  private static final int SUCCESS = TargetWire.SUCCESS;

  /** What is sent in place of the answer to a command. */
  private interface Lie {
    void tell(TargetWire wire, int id, byte[] data) throws IOException;
  }

  private enum Bent {
    READY_BEYOND_THE_END(WRITE, (wire, id, data) -> wire.ready(id, 1, 0, data.length + SECTOR)),
    READY_AFTER_A_GAP(WRITE, (wire, id, data) -> wire.ready(id, 1, SECTOR, SECTOR)),
    READY_BEFORE_THE_BEGINNING(WRITE, (wire, id, data) -> wire.ready(id, 1, -SECTOR, SECTOR)),
    READY_FOR_NOTHING(WRITE, (wire, id, data) -> wire.ready(id, 1, 0, 0)),
    READY_FOR_GIGABYTES(WRITE, (wire, id, data) -> wire.ready(id, 1, 0, Integer.MIN_VALUE)),
    READY_AGAIN(
        WRITE,
        (wire, id, data) -> {
          wire.ready(id, 1, 0, data.length);
          wire.ready(id, 1, 0, data.length);
        }),
    READY_FOR_TWO_PARTS_AT_ONCE(
        WRITE,
        (wire, id, data) -> {
          wire.ready(id, 1, 0, data.length / 2);
          wire.ready(id, 2, data.length / 2, data.length / 2);
        }),
    READY_FOR_NOBODY(WRITE, (wire, id, data) -> wire.ready(id + 9, 1, 0, data.length)),
    READY_FOR_AN_EARLIER_USE(WRITE, (wire, id, data) -> wire.ready(id ^ 0x1000, 1, 0, SECTOR)),
    READY_FOR_A_READ(READ, (wire, id, data) -> wire.ready(id, 1, 0, data.length)),
    READY_AFTER_THE_END(
        WRITE,
        (wire, id, data) -> {
          wire.completion(id, INTERNAL, 0);
          wire.ready(id, 1, 0, data.length);
        }),
    DATA_FOR_A_WRITE(WRITE, (wire, id, data) -> part(wire, id, LAST | SUCCESS, data, 0, 1)),
    DATA_FOR_NOBODY(READ, (wire, id, data) -> part(wire, id + 9, LAST | SUCCESS, data, 0, 1)),
    DATA_AFTER_A_GAP(
        READ,
        (wire, id, data) -> {
          part(wire, id, 0, data, 0, 0.25);
          part(wire, id, LAST | SUCCESS, data, 0.5, 1);
        }),
    DATA_THAT_OVERLAP(
        READ,
        (wire, id, data) -> {
          part(wire, id, 0, data, 0, 0.5);
          part(wire, id, LAST | SUCCESS, data, 0.25, 1);
        }),
    DATA_AGAIN(
        READ,
        (wire, id, data) -> {
          part(wire, id, 0, data, 0, 0.5);
          part(wire, id, 0, data, 0, 0.5);
        }),
    DATA_BEYOND_THE_END(
        READ,
        (wire, id, data) ->
            wire.data(id, LAST | SUCCESS, 0, data.length + GUARD, new byte[data.length + GUARD])),
    DATA_THAT_GO_ON_BEYOND_THE_END(
        READ,
        (wire, id, data) -> {
          part(wire, id, 0, data, 0, 0.5);
          wire.data(id, LAST | SUCCESS, data.length / 2, data.length, data);
        }),
    DATA_AFTER_THE_END(
        READ,
        (wire, id, data) -> {
          part(wire, id, LAST | SUCCESS, data, 0, 1);
          part(wire, id, LAST | SUCCESS, data, 0, 1);
        }),
    DATA_BEFORE_THE_BEGINNING(
        READ, (wire, id, data) -> wire.data(id, LAST | SUCCESS, -GUARD, data.length, data)),
    FEWER_DATA_THAN_TOLD(
        READ,
        (wire, id, data) ->
            wire.data(id, LAST | SUCCESS, 0, data.length, Arrays.copyOf(data, data.length / 2))),
    MORE_DATA_THAN_TOLD(
        READ, (wire, id, data) -> wire.data(id, LAST | SUCCESS, 0, data.length / 2, data)),
    LESS_THAN_NO_DATA(
        READ, (wire, id, data) -> wire.data(id, LAST | SUCCESS, 0, -data.length, data)),
    A_UNIT_SHORTER_THAN_ITS_HEADER(
        READ,
        (wire, id, data) -> {
          head(wire, id, 8, 8 - 24);
          byte[] shifted = new byte[data.length + 16];
          wire.data(id, LAST | SUCCESS, -16, shifted.length, shifted);
        }),
    GIGABYTES_OF_DATA(
        READ, (wire, id, data) -> head(wire, id, Integer.MAX_VALUE, Integer.MAX_VALUE - 24)),
    DATA_AFTER_THE_LAST_ONES(
        READ,
        (wire, id, data) -> {
          part(wire, id, LAST, data, 0, 0.5);
          part(wire, id, LAST | SUCCESS, data, 0.5, 1);
        }),
    SUCCESS_BEFORE_THE_LAST_DATA(
        READ, (wire, id, data) -> part(wire, id, LAST | SUCCESS, data, 0, 0.5)),
    SUCCESS_WITH_OTHER_THAN_THE_LAST_DATA(
        READ, (wire, id, data) -> part(wire, id, SUCCESS, data, 0, 1)),
    AN_END_WITHOUT_DATA(READ, (wire, id, data) -> wire.completion(id, 0, 0)),
    AN_END_AFTER_HALF_OF_THE_DATA(
        READ,
        (wire, id, data) -> {
          part(wire, id, 0, data, 0, 0.5);
          wire.completion(id, 0, 0);
        }),
    AN_END_AFTER_THE_LAST_DATA_OF_HALF(
        READ,
        (wire, id, data) -> {
          part(wire, id, LAST, data, 0, 0.5);
          wire.completion(id, 0, 0);
        }),
    AN_END_OF_A_WRITE_WITHOUT_DATA(WRITE, (wire, id, data) -> wire.completion(id, 0, 0)),
    AN_END_BEFORE_THE_DATA_HAVE_LEFT(
        WRITE,
        (wire, id, data) -> {
          wire.ready(id, 1, 0, data.length);
          wire.completion(id, 0, 0);
        }),
    TWO_ENDS(
        READ,
        (wire, id, data) -> {
          part(wire, id, LAST, data, 0, 1);
          wire.completion(id, 0, 0);
          wire.completion(id, 0, 0);
        }),
    AN_END_AFTER_SUCCESS(
        READ,
        (wire, id, data) -> {
          part(wire, id, LAST | SUCCESS, data, 0, 1);
          wire.completion(id, 0, 0);
        });

    private final int opcode;
    private final Lie lie;

    Bent(int opcode, Lie lie) {
      this.opcode = opcode;
      this.lie = lie;
    }

    /** Sends the header of data without a digest. */
    private static void head(TargetWire wire, int id, int unitLength, int length)
        throws IOException {
      ByteBuffer head = TargetWire.little(new byte[24]);
      head.put(0, (byte) 7).put(2, (byte) 24).put(3, (byte) 24).putInt(4, unitLength);
      wire.bytes(head.putShort(8, (short) id).putInt(16, length).array());
    }

    /** Sends a part of the data, whose borders are fractions of their length. */
    private static void part(
        TargetWire wire, int id, int flags, byte[] data, double from, double to)
        throws IOException {
      byte[] part = Arrays.copyOfRange(data, (int) (from * data.length), (int) (to * data.length));
      wire.data(id, flags, (int) (from * data.length), part.length, part);
    }
  }

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @BeforeEach
  void tellSeed() {
    System.out.println("-Dcrail.seed=" + seed);
  }

  private static NvmeTarget target(TargetOptions options) throws IOException {
    return new NvmeTarget(options, new TargetNamespace(1, 4096, SECTOR));
  }

  /** A read or write in flight, with guards around its memory. */
  private final class Move {
    private final boolean write;
    private final ByteBuffer memory;
    private final byte[] before;
    private final int length;
    private final CompletableFuture<Integer> end;

    Move(TestHost host, boolean write, long position, int length) {
      this.write = write;
      this.length = length;
      this.memory = Moves.memory(length + 2 * GUARD, random);
      this.before = Moves.bytes(memory, 0, memory.capacity());
      long block = position / SECTOR;
      this.end =
          write
              ? host.write(1, block, length / SECTOR, memory, GUARD, length)
              : host.read(1, block, length / SECTOR, memory, GUARD, length);
    }

    byte[] content() {
      return Moves.bytes(memory, GUARD, length);
    }

    /** The status; -1 when it is lost. */
    int end() throws Exception {
      int status;
      try {
        status = TestHost.await(end);
      } catch (TestHost.Lost e) {
        status = -1;
      }
      checkGuards();
      return status;
    }

    void checkGuards() {
      byte[] now = Moves.bytes(memory, 0, memory.capacity());
      int end = GUARD + length;
      assertTrue(Arrays.equals(before, 0, GUARD, now, 0, GUARD), "before the buffer");
      assertTrue(
          Arrays.equals(before, end, end + GUARD, now, end, end + GUARD), "behind the buffer");
      assertTrue(!write || Arrays.equals(before, now), "within what is written");
    }
  }

  /** The connection ends, and nothing but that. */
  @ParameterizedTest
  @EnumSource(Bent.class)
  void aBentAnswerEndsTheConnection(Bent bent) throws Exception {
    for (int length : new int[] {4096, 65536}) {
      for (boolean digests : new boolean[] {false, true}) {
        try (NvmeTarget target = target(new TargetOptions().inCapsule(0))) {
          endsTheConnection(
              target, TestHost.Start.at(target).digests(digests, digests), bent, length);
        }
      }
    }
  }

  private void endsTheConnection(NvmeTarget target, TestHost.Start start, Bent bent, int length)
      throws Exception {
    byte[] acknowledged;
    byte[] told = new byte[length];
    random.nextBytes(told);
    try (TestHost host = new TestHost(start)) {
      host.controller();
      Move first = new Move(host, true, 0, length);
      assertEquals(NvmeStatus.OK, first.end());
      acknowledged = first.content();
      AtomicBoolean once = new AtomicBoolean(true);
      target.bend(
          (wire, queue, entry) -> {
            boolean own = queue == 1 && entry.get(0) == bent.opcode && entry.getLong(40) != 0;
            if (!own || !once.getAndSet(false)) {
              return false;
            }
            wire.hold();
            bent.lie.tell(wire, entry.getShort(2) & 0xffff, told);
            wire.release();
            return true;
          });
      // Reads that are not large, so that all that a lie consists of comes in one piece.
      List<Move> others = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        others.add(new Move(host, false, 0, SECTOR));
      }
      Move victim = new Move(host, bent.opcode == WRITE, length, length);
      for (int i = 0; i < 3; i++) {
        others.add(new Move(host, false, 0, SECTOR));
      }
      assertTrue(host.lost().startsWith("the target breaks the protocol: "), host.lost());
      int status = victim.end();
      if (status == NvmeStatus.OK) {
        assertEquals(READ, bent.opcode, "a write that never was");
        assertArrayEquals(told, victim.content());
      }
      for (Move each : others) {
        status = each.end();
        assertTrue(status == -1 || status == NvmeStatus.OK, NvmeStatus.text(status));
        if (status == NvmeStatus.OK) {
          assertArrayEquals(Arrays.copyOf(acknowledged, SECTOR), each.content());
        }
      }
      awaitNoConnection(target);
      victim.checkGuards();
    }
    target.bend((wire, queue, entry) -> false);
    assertArrayEquals(new byte[length], target.namespace(1).read(length, length));
    try (TestHost next = new TestHost(start)) {
      next.controller();
      Move read = new Move(next, false, 0, length);
      assertEquals(NvmeStatus.OK, read.end());
      assertArrayEquals(acknowledged, read.content());
      Move write = new Move(next, true, length, length);
      assertEquals(NvmeStatus.OK, write.end());
      assertArrayEquals(write.content(), target.namespace(1).read(length, length));
    }
    assertEquals(List.of(), target.complaints());
  }

  private static void awaitNoConnection(NvmeTarget target) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (target.open() > 0) {
      assertTrue(System.nanoTime() - end < 0, "the connection stays");
      Thread.onSpinWait();
    }
  }

  /** The first unit of a target: a value at an offset of it. */
  @ParameterizedTest
  @CsvSource({
    "0, 5", // another type
    "2, 24", // a short header
    "4, 127", // short at all
    "7, 127", // gigabytes
    "8, 1", // an unknown version
    "11, 3", // digests that were not asked for
    "13, 15", // takes 3,840 bytes at once
  })
  void aBentGreetingEndsTheConnection(int at, int value) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      ByteBuffer greeting = TargetWire.little(new byte[128]);
      greeting.put(0, (byte) 1).put(2, (byte) 128).putInt(4, 128).putInt(12, 4096);
      byte[] bent = greeting.put(at, (byte) value).array();
      CompletableFuture<Integer> rest =
          CompletableFuture.supplyAsync(
              () -> {
                try (Socket host = server.accept()) {
                  host.getInputStream().readNBytes(128);
                  host.getOutputStream().write(bent);
                  return host.getInputStream().read();
                } catch (IOException e) {
                  // A reset.
                  return -1;
                }
              });
      InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
      try (TestHost host =
          new TestHost(
              TestHost.Start.at(
                  new Subsystem(
                      NvmeTransport.TCP,
                      address,
                      "nqn.2026-11.io.crail:bent",
                      TestHost.Start.HOST)))) {
        String lost = assertThrows(TestHost.Lost.class, host::controller).getMessage();
        assertTrue(lost.startsWith("the target breaks the protocol: "), lost);
        assertEquals(-1, rest.get(TestHost.PATIENCE_SECONDS, TimeUnit.SECONDS));
      }
    }
  }

  /** Data that went along with their command are not asked for. */
  @Test
  void askingForDataThatItHasEndsTheConnection() throws Exception {
    try (NvmeTarget target = target(new TargetOptions());
        TestHost host = new TestHost(TestHost.Start.at(target))) {
      host.controller();
      target.bend(
          (wire, queue, entry) -> {
            if (queue == 1) {
              wire.ready(entry.getShort(2), 1, 0, SECTOR);
            }
            return queue == 1;
          });
      assertEquals(-1, new Move(host, true, 0, SECTOR).end());
      assertTrue(host.lost().contains("it asks for 512 bytes at 0 of 512"), host.lost());
    }
  }

  /** Parts of the data of several reads may alternate. */
  @ParameterizedTest
  @ValueSource(ints = {4096, 65536})
  void dataOfSeveralReadsMayAlternate(int length) throws Exception {
    try (NvmeTarget target = target(new TargetOptions());
        TestHost host = new TestHost(TestHost.Start.at(target).digests(true, true))) {
      host.controller();
      byte[] content = new byte[4 * length];
      random.nextBytes(content);
      List<Integer> ids = new ArrayList<>();
      target.bend(
          (wire, queue, entry) -> {
            if (queue != 1) {
              return false;
            }
            ids.add(entry.getShort(2) & 0xffff);
            for (int at = 0; at < length && ids.size() == 4; at += SECTOR) {
              for (int i = 0; i < 4; i++) {
                int from = i * length + at;
                byte[] part = Arrays.copyOfRange(content, from, from + SECTOR);
                wire.data(ids.get(i), at + SECTOR == length ? LAST : 0, at, SECTOR, part);
              }
            }
            for (int i = 3; i >= 0 && ids.size() == 4; i--) {
              wire.completion(ids.get(i), 0, 0);
            }
            return true;
          });
      List<Move> reads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        reads.add(new Move(host, false, (long) i * length, length));
      }
      for (int i = 0; i < 4; i++) {
        assertEquals(NvmeStatus.OK, reads.get(i).end());
        assertArrayEquals(
            Arrays.copyOfRange(content, i * length, (i + 1) * length), reads.get(i).content());
      }
      assertFalse(host.isLost());
    }
  }

  /** It fails alone. */
  @Test
  void aReadMayFailInTheMiddleOfItsData() throws Exception {
    try (NvmeTarget target = target(new TargetOptions());
        TestHost host = new TestHost(TestHost.Start.at(target).digests(true, true))) {
      host.controller();
      AtomicInteger flags = new AtomicInteger();
      target.bend(
          (wire, queue, entry) -> {
            boolean own = queue == 1 && entry.getLong(40) != 0;
            if (own) {
              wire.data(entry.getShort(2), flags.get(), 0, SECTOR, new byte[SECTOR]);
              wire.completion(entry.getShort(2), INTERNAL, 0);
            }
            return own;
          });
      for (int each : new int[] {0, LAST}) {
        flags.set(each);
        Move failing = new Move(host, false, 4096, 4096);
        Move other = new Move(host, false, 0, 4096);
        assertEquals(INTERNAL, failing.end());
        assertEquals(NvmeStatus.OK, other.end());
      }
      assertFalse(host.isLost());
    }
  }

  /** A wrong checksum of data says nothing about the units around them. */
  @ParameterizedTest
  @ValueSource(ints = {SECTOR, 65536})
  void damagedDataFailTheirCommandOnly(int length) throws Exception {
    for (boolean header : new boolean[] {false, true}) {
      try (NvmeTarget target = target(new TargetOptions().inCapsule(0).splitWrites());
          TestHost host = new TestHost(TestHost.Start.at(target).digests(header, true))) {
        host.controller();
        byte[] content = new byte[length];
        random.nextBytes(content);
        target.namespace(1).write(0, content);
        int before = target.connections();
        for (int damaged : new int[] {0, 3, 5}) {
          int first = 7 * (damaged == 0 ? 0 : damaged == 3 ? 1 : 2);
          target.plan(
              (queue, opcode, count) ->
                  queue == 1 && count == 1 + first + damaged ? Fate.DAMAGED_DATA : Fate.NORMAL);
          List<Move> moves = new ArrayList<>();
          for (int i = 0; i < 6; i++) {
            moves.add(new Move(host, false, 0, length));
          }
          moves.add(new Move(host, true, length, length));
          for (int i = 0; i < 6; i++) {
            int status = moves.get(i).end();
            if (i == damaged) {
              assertEquals(NvmeStatus.TRANSIENT_TRANSPORT_ERROR, status, NvmeStatus.text(status));
            } else {
              assertEquals(NvmeStatus.OK, status, NvmeStatus.text(status));
              assertArrayEquals(content, moves.get(i).content());
            }
          }
          assertEquals(NvmeStatus.OK, moves.get(6).end());
          assertArrayEquals(moves.get(6).content(), target.namespace(1).read(length, length));
        }
        assertFalse(host.isLost());
        assertEquals(before, target.connections());
        assertEquals(List.of(), target.complaints());
      }
    }
  }

  /** What follows a header that is wrong means nothing. */
  @ParameterizedTest
  @ValueSource(ints = {SECTOR, 65536})
  void aDamagedHeaderEndsTheConnection(int length) throws Exception {
    for (int opcode : new int[] {READ, WRITE}) {
      try (NvmeTarget target = target(new TargetOptions().inCapsule(0))) {
        byte[] content = new byte[length];
        random.nextBytes(content);
        target.namespace(1).write(0, content);
        // The last bits of the first and the last field, and of the digest.
        for (int at : new int[] {8, 19, 27}) {
          target.damage((unit, bytes) -> unit[at] ^= 1);
          target.plan(
              (queue, command, count) ->
                  queue == 1 && command == opcode && count > 1 ? Fate.DAMAGED_HEADER : Fate.NORMAL);
          try (TestHost host = new TestHost(TestHost.Start.at(target).digests(true, true))) {
            host.controller();
            Move before = new Move(host, false, 0, length);
            assertEquals(NvmeStatus.OK, before.end());
            assertArrayEquals(content, before.content());
            Move damaged = new Move(host, opcode == WRITE, length, length);
            assertEquals(-1, damaged.end());
            assertNotEquals(NvmeStatus.OK, new Move(host, false, 0, length).end());
            assertTrue(host.lost().contains("a wrong header digest"), host.lost());
            awaitNoConnection(target);
          }
        }
        assertEquals(List.of(), target.complaints());
      }
    }
  }

  @Test
  void dataWithoutTheChecksumThatWasAgreedEndTheConnection() throws Exception {
    try (NvmeTarget target = target(new TargetOptions())) {
      target.damage((unit, bytes) -> unit[1] ^= 2);
      target.plan(
          (queue, opcode, count) -> queue == 1 && count > 0 ? Fate.DAMAGED_HEADER : Fate.NORMAL);
      for (boolean digest : new boolean[] {false, true}) {
        try (TestHost host = new TestHost(TestHost.Start.at(target).digests(false, digest))) {
          host.controller();
          assertEquals(-1, new Move(host, false, 0, SECTOR).end());
          assertTrue(host.lost().contains("a data digest is missing, or was not"), host.lost());
        }
      }
    }
  }
}
