/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random transfers, against a model, to a target of whose headers some are damaged at random: those
 * of data, of requests for data, of answers, and of all steps of a start.
 *
 * <p>With digests, any bytes of a header are damaged, and many transfers are in flight. Without,
 * one byte is, and one transfer is in flight: more than that may look right.
 */
@Tag("once")
class DamagedHeadersTest extends TargetClient {
  private static final int SECTOR = 512;
  private static final int PLACES = 16;
  private static final int PLACE = MIB / PLACES;
  private static final int GUARD = 64;
  private static final int WATCHED = 64;
  private static final boolean LONG = Boolean.getBoolean("crail.test.long");
  private static final int ROUNDS = LONG ? 10 : 2;
  private static final int TRANSFERS = LONG ? 5_000 : 400;

  /** A transfer, with guards around its memory. */
  private static final class Move {
    final Transfer transfer = new Transfer();
    final boolean write;
    final int place;
    final int offset;
    final ByteBuffer memory;
    byte[] known;

    Move(boolean write, int place, int offset, ByteBuffer memory) {
      this.write = write;
      this.place = place;
      this.offset = offset;
      this.memory = memory;
      this.known = all();
    }

    int length() {
      return memory.capacity() - 2 * GUARD;
    }

    byte[] all() {
      return Moves.bytes(memory, 0, memory.capacity());
    }

    byte[] content() {
      return Moves.bytes(memory, GUARD, length());
    }

    /** Nothing but the buffer of a read has changed. */
    void checkGuards() {
      byte[] now = all();
      int end = GUARD + length();
      boolean kept =
          write
              ? Arrays.equals(known, now)
              : Arrays.equals(known, 0, GUARD, now, 0, GUARD)
                  && Arrays.equals(known, end, end + GUARD, now, end, end + GUARD);
      assertTrue(kept, "bytes outside of the buffer have changed");
      known = now;
    }
  }

  private final byte[] model = new byte[MIB];

  /** What a place holds if a write that failed was executed; null for those that are certain. */
  private final byte[][] doubted = new byte[PLACES][];

  private final BitSet busy = new BitSet();
  private final Deque<Move> inFlight = new ArrayDeque<>();
  private final Deque<Move> ended = new ArrayDeque<>();
  private final Map<ErrorCode, Integer> ends = new EnumMap<>(ErrorCode.class);
  private final AtomicInteger damages = new AtomicInteger();
  private final AtomicBoolean damaging = new AtomicBoolean();
  private boolean digests;
  private NvmeTarget target;
  private StorageEndpoint endpoint;

  @Override
  void stopped() {
    if (digests) {
      // Without them a host does what a damaged header says.
      super.stopped();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nothingThatWasAcknowledgedIsLost(boolean checked) throws Exception {
    digests = checked;
    for (int round = 0; round < ROUNDS; round++) {
      begin();
      for (int i = 0; i < TRANSFERS; i++) {
        next();
      }
      settle();
      readAll();
      System.out.println(damages + " damaged headers, " + ends);
      assertTrue(damages.get() > TRANSFERS / 50, damages + " damaged headers");
      assertTrue(ends.get(ErrorCode.OK) > TRANSFERS / 4, ends.toString());
      assertTrue(ends.size() > 1, ends.toString());
      assertTrue(server.failure().isEmpty(), server.failure().toString());
      while (!open.isEmpty()) {
        open.remove(open.size() - 1).close();
      }
    }
  }

  private void begin() throws Exception {
    TargetOptions options =
        new TargetOptions().spared(MIB).inCapsule(random.nextBoolean() ? 8192 : 0);
    if (random.nextBoolean()) {
      options.splitReads();
    }
    if (random.nextBoolean()) {
      options.splitWrites();
    }
    target = target(SECTOR, options);
    Random flips = new Random(random.nextLong());
    target.plan(
        (queue, opcode, count) ->
            damaging.get() && flips.nextInt(queue > 0 ? 8 : 64) == 0
                ? Fate.DAMAGED_HEADER
                : Fate.NORMAL);
    target.damage(
        (unit, length) -> {
          damages.incrementAndGet();
          for (int i = digests ? 1 + flips.nextInt(3) : 1; i > 0; i--) {
            unit[flips.nextInt(length)] ^= (byte) (1 + flips.nextInt(255));
          }
        });
    Arrays.fill(model, (byte) 0);
    ends.clear();
    damages.set(0);
    Configuration settings =
        settings(target).toBuilder()
            .set(NvmfStorageKeys.HEADER_DIGEST, digests)
            .set(NvmfStorageKeys.DATA_DIGEST, digests)
            .build();
    // No one waits for the datanode, while a client gives up soon what is not answered.
    endpoint(settings.toBuilder().set(NvmfStorageKeys.CONNECT_TIMEOUT, "20s").build());
    endpoint = connect(settings);
    damaging.set(true);
  }

  private void next() throws Exception {
    while (inFlight.size() >= (digests ? 6 : 1)) {
      end(inFlight.poll());
    }
    int place = random.nextInt(PLACES);
    for (int i = 0; i < PLACES && (busy.get(place) || doubted[place] != null); i++) {
      place = (place + 1) % PLACES;
    }
    if (busy.get(place) || doubted[place] != null) {
      settle();
    }
    int offset = random.nextInt(PLACE);
    int length = 1 + random.nextInt(random.nextBoolean() ? 4096 : PLACE);
    if (!digests) {
      offset = offset / SECTOR * SECTOR;
      length = (length + SECTOR - 1) / SECTOR * SECTOR;
    }
    length = Math.min(length, PLACE - offset);
    begin(random.nextBoolean(), place, offset, length);
  }

  private void begin(boolean write, int place, int offset, int length) {
    Move move = new Move(write, place, offset, Moves.memory(length + 2 * GUARD, random));
    busy.set(place);
    inFlight.add(move);
    long deadline = loop.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(digests ? 20_000 : 300);
    move.transfer.prepare(move.memory, GUARD, length, extent(0), place * PLACE + offset, deadline);
    if (write) {
      endpoint.write(move.transfer);
    } else {
      endpoint.read(move.transfer);
    }
  }

  private void end(Move move) throws Exception {
    ErrorCode code = end(move.transfer);
    ends.merge(code, 1, Integer::sum);
    move.checkGuards();
    busy.clear(move.place);
    int at = move.place * PLACE + move.offset;
    byte[] content = move.content();
    if (code != ErrorCode.OK) {
      boolean expected = code == ErrorCode.UNAVAILABLE || !digests && code == ErrorCode.TIMED_OUT;
      assertTrue(expected, move.transfer.failure().toString());
      if (move.write) {
        byte[] executed = Arrays.copyOfRange(model, move.place * PLACE, (move.place + 1) * PLACE);
        System.arraycopy(content, 0, executed, move.offset, content.length);
        doubted[move.place] = executed;
      }
    } else if (move.write) {
      System.arraycopy(content, 0, model, at, content.length);
    } else {
      assertArrayEquals(Arrays.copyOfRange(model, at, at + content.length), content);
    }
    ended.add(move);
    if (ended.size() > WATCHED) {
      checkUntouched(ended.poll());
    }
  }

  private static void checkUntouched(Move move) {
    assertArrayEquals(move.known, move.all(), "memory of a transfer that has ended");
  }

  /** Ends all connections, whose commands may be executed until then, and looks at the bytes. */
  private void settle() throws Exception {
    while (!inFlight.isEmpty()) {
      end(inFlight.poll());
    }
    long end = System.nanoTime() + PATIENCE;
    do {
      assertTrue(System.nanoTime() - end < 0, "the connections stay");
      // Again and again, since the datanode connects again.
      target.cut();
    } while (target.open() > 0);
    for (int place = 0; place < PLACES; place++) {
      byte[] held = target.namespace(1).read(MIB + (long) place * PLACE, PLACE);
      for (int at = 0; at < PLACE; at += SECTOR) {
        int from = place * PLACE + at;
        boolean known = Arrays.equals(held, at, at + SECTOR, model, from, from + SECTOR);
        byte[] other = doubted[place];
        boolean late =
            other != null && Arrays.equals(held, at, at + SECTOR, other, at, at + SECTOR);
        assertTrue(known || late, "acknowledged bytes are lost, in the sector at " + from);
      }
      System.arraycopy(held, 0, model, place * PLACE, PLACE);
      doubted[place] = null;
    }
  }

  private void readAll() throws Exception {
    damaging.set(false);
    for (int place = 0; place < PLACES; place++) {
      begin(false, place, 0, PLACE);
      Move read = inFlight.poll();
      end(read);
      assertEquals(null, read.transfer.failure());
    }
    ended.forEach(DamagedHeadersTest::checkUntouched);
    ended.clear();
  }
}
