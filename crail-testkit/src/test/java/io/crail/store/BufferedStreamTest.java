/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.createFile;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.error.ClosedException;
import io.crail.common.error.LimitExceededException;
import io.crail.common.error.OutOfRangeException;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Buffered streams, over mapped regions and over a network. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier(
    and = {Tier.NVMF, Tier.FOUND},
    ifLong = Tier.MIXED)
@Tag("repeat")
class BufferedStreamTest implements EachTier.Shared {
  static final int SLICE = 64 << 10;

  private TestCluster cluster;
  private CrailStore mapped;
  private CrailStore network;
  private int number;

  /** Of the cluster; a subclass adds more. */
  String[] settings() {
    return new String[] {"crail.buffersize=128k", "crail.slicesize=64k"};
  }

  final TestCluster cluster() {
    return cluster;
  }

  @Override
  public void start(Tier tier) throws Exception {
    cluster = TestCluster.start(tier, 1, 1, settings());
    mapped = cluster.newStore("crail.storage.localmap=true");
    network = cluster.newStore("crail.storage.localmap=false");
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  private CrailStore store(boolean isMapped) {
    return isMapped ? mapped : network;
  }

  private CrailFile newFile(boolean isMapped) throws Exception {
    return createFile(store(isMapped), "/buffered" + number++);
  }

  private CrailFile fileOf(boolean isMapped, byte[] bytes) throws Exception {
    CrailFile file = newFile(isMapped);
    try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
      output.write(bytes);
    }
    return file;
  }

  private static byte[] readAll(CrailFile file) throws Exception {
    try (CrailBufferedInputStream input = file.getBufferedInputStream(file.getCapacity())) {
      return input.readAllBytes();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void severalStreamsOfOneHandleFollowEachOther(boolean isMapped) throws Exception {
    CrailFile file = newFile(isMapped);
    for (String part : new String[] {"Hello", "World", "Problem", "Solved"}) {
      CrailBufferedOutputStream output = file.getBufferedOutputStream(0);
      output.write(part.getBytes(StandardCharsets.UTF_8));
      assertEquals(part.length(), output.purge().get().getLen());
      output.close();
    }
    assertEquals("HelloWorldProblemSolved", new String(readAll(file), StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void sizesThatAreNoMultiplesOfASlice(boolean isMapped) throws Exception {
    long seed = Bytes.seed("unaligned buffered");
    Random random = new Random(seed);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    CrailFile file = newFile(isMapped);
    for (int i = 0; i < 10; i++) {
      byte[] part = Bytes.random(random, 1 + random.nextInt(5 * SLICE));
      expected.write(part);
      CrailBufferedOutputStream output = file.getBufferedOutputStream(part.length);
      if (random.nextBoolean()) {
        output.write(ByteBuffer.wrap(part));
      } else {
        output.write(part);
      }
      output.purge().get();
      output.close();
    }
    assertArrayEquals(expected.toByteArray(), readAll(file), "seed " + seed);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void slicesBeginAtMultiplesOfTheirSize(boolean isMapped) throws Exception {
    CrailFile file = newFile(isMapped);
    CrailBufferedOutputStream output = file.getBufferedOutputStream(0);
    output.write(new byte[100]);
    assertEquals(0, output.position());
    output.purge().get();
    assertEquals(100, output.position());
    output.write(new byte[SLICE - 101]);
    assertEquals(100, output.position());
    output.write(1);
    assertEquals(SLICE, output.position());
    output.write(2);
    output.close();
    CrailBufferedOutputStream again = file.getBufferedOutputStream(0);
    assertEquals(SLICE + 1, again.position());
    again.write(new byte[SLICE]);
    assertEquals(2 * SLICE, again.position());
    again.close();
    assertEquals(2 * SLICE + 1, file.getCapacity());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void writesGoOnAfterAPurgeAndASync(boolean isMapped) throws Exception {
    Random random = new Random(Bytes.seed("purge"));
    byte[] bytes = Bytes.random(random, 3 * SLICE);
    CrailFile file = newFile(isMapped);
    try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
      int at = 0;
      while (at < bytes.length) {
        int length = Math.min(bytes.length - at, 1 + random.nextInt(9_000));
        output.write(bytes, at, length);
        at += length;
        output.flush();
        switch (random.nextInt(3)) {
          case 0:
            output.purge();
            break;
          case 1:
            output.sync().get();
            assertEquals(at, store(isMapped).lookup(file.getPath()).get().getCapacity());
            break;
          default:
        }
      }
      assertEquals(file, output.getFile());
    }
    assertArrayEquals(bytes, readAll(file));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void numbersAreBigEndianAndMayLieAcrossSlices(boolean isMapped) throws Exception {
    CrailFile file = newFile(isMapped);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    DataOutputStream reference = new DataOutputStream(expected);
    Random random = new Random(Bytes.seed("numbers"));
    try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
      for (int i = 0; i < 20_000; i++) {
        long value = random.nextLong();
        output.write((int) value);
        output.writeLong(value);
        output.writeInt((int) value);
        output.writeShort((short) value);
        output.writeDouble(i / 3.0);
        output.writeFloat(i / 7.0f);
        reference.write((int) value);
        reference.writeLong(value);
        reference.writeInt((int) value);
        reference.writeShort((short) value);
        reference.writeDouble(i / 3.0);
        reference.writeFloat(i / 7.0f);
      }
    }
    assertArrayEquals(expected.toByteArray(), readAll(file));
    ByteBuffer all = ByteBuffer.wrap(expected.toByteArray());
    try (CrailBufferedInputStream input = file.getBufferedInputStream(0)) {
      while (all.hasRemaining()) {
        assertEquals(all.get() & 0xff, input.read());
        assertEquals(all.getLong(), input.readLong());
        assertEquals(all.getInt(), input.readInt());
        assertEquals(all.getShort(), input.readShort());
        assertEquals(all.getDouble(), input.readDouble());
        assertEquals(all.getFloat(), input.readFloat());
        assertEquals(all.position(), input.position());
      }
      assertThrows(EOFException.class, input::readInt);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aShortTailIsNoNumber(boolean isMapped) throws Exception {
    CrailFile file = fileOf(isMapped, new byte[] {1, 2, 3});
    try (CrailBufferedInputStream input = file.getBufferedInputStream(0)) {
      assertThrows(EOFException.class, input::readInt);
      assertEquals(-1, input.read());
      assertEquals(-1, input.read(new byte[1]));
      assertEquals(-1, input.read(ByteBuffer.allocate(1)));
      assertEquals(0, input.read(new byte[0]));
      assertEquals(0, input.available());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void seeksSkipsAndReadsAtPositions(boolean isMapped) throws Exception {
    long seed = Bytes.seed("seek");
    Random random = new Random(seed);
    byte[] bytes = Bytes.random(random, 10 * SLICE + 123);
    CrailFile file = fileOf(isMapped, bytes);
    try (CrailBufferedInputStream input = file.getBufferedInputStream(bytes.length)) {
      long position = 0;
      for (int i = 0; i < 400; i++) {
        String what = "seed " + seed + ", step " + i;
        assertEquals(position, input.position(), what);
        int length = random.nextInt(random.nextBoolean() ? 100 : 2 * SLICE);
        byte[] got = new byte[length];
        switch (random.nextInt(5)) {
          case 0:
            position = random.nextInt(bytes.length + 1);
            input.seek(position);
            break;
          case 1:
            long skipped = input.skip(length);
            assertEquals(Math.min(length, bytes.length - position), skipped, what);
            position += skipped;
            break;
          case 2:
            int from = random.nextInt(bytes.length);
            int count = input.read(from, got, 0, length);
            int expected = length == 0 ? 0 : Math.min(length, bytes.length - from);
            assertEquals(expected, count, what);
            assertArrayEquals(
                Arrays.copyOfRange(bytes, from, from + count), Arrays.copyOf(got, count), what);
            break;
          case 3:
            // A short jump ahead stays within what was read ahead.
            position = Math.min(bytes.length, position + random.nextInt(SLICE));
            input.seek(position);
            break;
          default:
            int read = Math.max(0, input.read(got));
            assertEquals(Math.min(length, bytes.length - position), read, what);
            assertArrayEquals(
                Arrays.copyOfRange(bytes, (int) position, (int) position + read),
                Arrays.copyOf(got, read),
                what);
            position += read;
        }
      }
      assertEquals(-1, input.read(bytes.length, new byte[1], 0, 1));
      assertThrows(OutOfRangeException.class, () -> input.read(-1, new byte[1], 0, 1));
      assertThrows(OutOfRangeException.class, () -> input.seek(bytes.length + 1));
      assertThrows(OutOfRangeException.class, () -> input.seek(-1));
      input.seek(bytes.length);
      assertEquals(-1, input.read());
      input.seek(7);
      assertEquals(bytes[7] & 0xff, input.read());
    }
  }

  /** What is big goes past the slices where bytes are mapped; users must not see a difference. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void directBuffersMixWithEverythingElse(boolean isMapped) throws Exception {
    long seed = Bytes.seed("direct buffers");
    Random random = new Random(seed);
    byte[] bytes = Bytes.random(random, 60 * SLICE + 123);
    CrailFile file = newFile(isMapped);
    ByteBuffer direct = ByteBuffer.allocateDirect(5 * SLICE);
    try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
      int at = 0;
      while (at < bytes.length) {
        int length = Math.min(bytes.length - at, 1 + random.nextInt(4 * SLICE));
        if (random.nextInt(3) == 0) {
          length = 1;
        }
        if (random.nextBoolean()) {
          output.write(bytes, at, length);
        } else {
          int offset = random.nextInt(SLICE);
          direct.clear().position(offset).limit(offset + length);
          direct.put(bytes, at, length).position(offset);
          output.write(direct);
          assertEquals(offset + length, direct.position());
          // The memory is the caller's again.
          direct.clear();
          direct.put(new byte[direct.capacity()]);
        }
        at += length;
        if (random.nextInt(20) == 0) {
          output.purge();
        }
      }
    }
    assertArrayEquals(bytes, readAll(file), "seed " + seed);
    try (CrailBufferedInputStream input = file.getBufferedInputStream(bytes.length)) {
      int at = 0;
      for (int i = 0; i < 200; i++) {
        String what = "seed " + seed + ", step " + i;
        int length = random.nextInt(random.nextBoolean() ? 100 : 4 * SLICE);
        int expected = Math.min(length, bytes.length - at);
        byte[] got = new byte[length];
        int read;
        if (random.nextBoolean()) {
          read = input.read(got);
        } else {
          int offset = random.nextInt(SLICE);
          direct.clear().position(offset).limit(offset + length);
          read = input.read(direct);
          assertEquals(offset + expected, direct.position(), what);
          direct.get(offset, got, 0, expected);
        }
        assertEquals(expected == 0 && length > 0 ? -1 : expected, read, what);
        assertArrayEquals(
            Arrays.copyOfRange(bytes, at, at + expected), Arrays.copyOf(got, expected), what);
        at += expected;
        assertEquals(at, input.position(), what);
        if (at == bytes.length || random.nextInt(10) == 0) {
          at = random.nextInt(bytes.length);
          input.seek(at);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void availableComesTrueWithoutARead(boolean isMapped) throws Exception {
    CrailFile file = fileOf(isMapped, new byte[100]);
    try (CrailBufferedInputStream input = file.getBufferedInputStream(100)) {
      TestCluster.await("100 bytes available", () -> input.available() == 100);
      assertEquals(100, input.read(new byte[200]));
      assertEquals(0, input.available());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBufferedReaderFollowsAGrowingFile(boolean isMapped) throws Exception {
    CrailFile file = newFile(isMapped);
    CrailBufferedOutputStream output = file.getBufferedOutputStream(0);
    CrailFile seen = store(isMapped).lookup(file.getPath()).get().asFile();
    CrailBufferedInputStream input = seen.getBufferedInputStream(0);
    Random random = new Random(Bytes.seed("follow"));
    for (int i = 0; i < 5; i++) {
      assertEquals(-1, input.read());
      byte[] part = Bytes.random(random, 1 + random.nextInt(2 * SLICE));
      output.write(part);
      output.sync().get();
      seen.refresh();
      byte[] got = new byte[part.length];
      assertEquals(part.length, input.read(got));
      assertArrayEquals(part, got);
    }
    input.close();
    output.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void closedStreamsRefuse(boolean isMapped) throws Exception {
    CrailFile file = fileOf(isMapped, new byte[1]);
    CrailBufferedInputStream input = file.getBufferedInputStream(0);
    input.close();
    input.close();
    assertThrows(ClosedException.class, input::read);
    assertThrows(ClosedException.class, () -> input.seek(0));
    CrailBufferedOutputStream output = file.getBufferedOutputStream(0);
    output.close();
    output.close();
    assertThrows(ClosedException.class, () -> output.write(1));
    assertThrows(ClosedException.class, output::purge);
    assertThrows(ClosedException.class, output::sync);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void streamsGiveTheirMemoryBack(boolean isMapped) throws Exception {
    CrailStore small =
        cluster.newStore("crail.cachelimit=128k", "crail.storage.localmap=" + isMapped);
    byte[] bytes = new byte[3 * SLICE + 2];
    for (int i = 0; i < 5; i++) {
      CrailFile file = createFile(small, "/small" + isMapped + i);
      try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
        output.write(bytes, 0, bytes.length - 1);
        // The only buffer is in use: half of it has bytes that are not sent.
        assertThrows(LimitExceededException.class, small::allocateBuffer);
        output.sync().get();
        small.freeBuffer(small.allocateBuffer());
        output.write(bytes, bytes.length - 1, 1);
        try (CrailBufferedOutputStream second =
            createFile(small, "/second" + isMapped + i).getBufferedOutputStream(0)) {
          second.write(1);
          CrailFile third = createFile(small, "/third" + isMapped + i);
          CrailBufferedOutputStream starved = third.getBufferedOutputStream(0);
          if (i == 0) {
            assertThrows(LimitExceededException.class, () -> starved.write(1));
          }
          starved.close();
        }
      }
      assertTrue(Arrays.equals(bytes, readAll(file)));
    }
    small.close();
  }

  @Test
  void oneBufferOfThePoolIsEnoughToWriteWith() throws Exception {
    CrailStore small =
        cluster.newStore(
            "crail.cachelimit=128k", "crail.slicesize=128k", "crail.storage.localmap=false");
    byte[] bytes = Bytes.random(new Random(Bytes.seed("one buffer")), 8 * SLICE);
    CrailFile file = createFile(small, "/oneBuffer");
    try (CrailBufferedOutputStream output = file.getBufferedOutputStream(0)) {
      output.write(bytes);
    }
    assertArrayEquals(bytes, readAll(file));
    small.close();
  }
}
