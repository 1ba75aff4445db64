/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.output.BackgroundDelete;
import io.crail.spark.output.OutputPlace;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ValueFileTest {
  private static final int MIB = 1 << 20;
  private static final String PATH = "/app/broadcast/1";

  private final JavaSerializer serializer = new JavaSerializer(new SparkConf(false));
  private EmbeddedCrail cluster;
  private CrailStore store;
  private OutputPlace place;
  private BackgroundDelete deletions;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().storage(64L * MIB).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    place =
        new OutputPlace(
            store,
            java.util.List.of("/app"),
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            java.time.Duration.ofDays(1));
    deletions = new BackgroundDelete(place::remove);
  }

  @AfterEach
  void stop() throws Exception {
    deletions.close();
    store.close();
    cluster.close();
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private ValueFile write(byte[] bytes) throws IOException {
    ValueOutput out = new ValueOutput(place, PATH, OutputStream.nullOutputStream());
    out.write(bytes[0]);
    out.write(bytes, 1, bytes.length - 1);
    out.close();
    return out.seal();
  }

  private byte[] read(ValueFile file) throws IOException {
    try (ValueInput in = ValueInput.open(file, store)) {
      return in.readAllBytes();
    }
  }

  private Optional<ValueFile> store(Object value, long minBytes) throws IOException {
    OutputStream noCopy = OutputStream.nullOutputStream();
    return Values.write(place, PATH, serializer, value, minBytes, out -> out, noCopy, deletions);
  }

  /** True when the file is there. Waits for the deletions before. */
  private boolean exists() throws Exception {
    deletions.delete("/nothing", true);
    return store.lookup(PATH).get() != null;
  }

  @Test
  void bytesComeBackAtAllLengthsAroundTheChunk() throws Exception {
    int chunk = ValueFile.CHUNK_BYTES;
    for (int length : new int[] {1, 2, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 7}) {
      byte[] bytes = bytes(length);
      ValueFile file = write(bytes);
      assertEquals(length, file.length());
      assertEquals((length + chunk - 1) / chunk, file.chunks());
      assertArrayEquals(bytes, read(file), "length " + length);
      place.remove(PATH);
    }
  }

  @Test
  void aWrongByteIsNeverHandedOut() throws Exception {
    int chunk = ValueFile.CHUNK_BYTES;
    byte[] bytes = bytes(chunk + 100);
    ValueFile file = write(bytes);
    for (int at : new int[] {0, chunk - 1, chunk, bytes.length - 1}) {
      byte[] wrong = bytes.clone();
      wrong[at] ^= 1;
      replace(wrong);
      try (ValueInput in = ValueInput.open(file, store)) {
        byte[] seen = new byte[bytes.length];
        int[] count = {0};
        assertThrows(
            CorruptValueException.class,
            () -> {
              while (true) {
                count[0] += in.read(seen, count[0], seen.length - count[0]);
              }
            });
        assertEquals(at < chunk ? 0 : chunk, count[0]);
        assertThrows(CorruptValueException.class, in::check);
      }
    }
    replace(Arrays.copyOf(bytes, bytes.length - 1));
    assertThrows(CorruptValueException.class, () -> ValueInput.open(file, store));
    replace(bytes);
    assertArrayEquals(bytes, read(file));
  }

  private void replace(byte[] bytes) throws Exception {
    place.remove(PATH);
    try (CrailBufferedOutputStream out = place.create(PATH).getBufferedOutputStream(0)) {
      out.write(bytes);
    }
  }

  @Test
  void bytesThatWereSpoiltOnTheirWayAreReadAgain() throws Exception {
    byte[] bytes = bytes(1000);
    ValueFile file = write(bytes);
    for (boolean always : new boolean[] {false, true}) {
      SpoiltInput spoilt = new SpoiltInput(bytes, always);
      try (ValueInput in = new ValueInput(file, spoilt)) {
        if (always) {
          assertThrows(CorruptValueException.class, in::readAllBytes);
        } else {
          assertArrayEquals(bytes, in.readAllBytes());
        }
      }
      assertEquals(1, spoilt.readAgain);
    }
  }

  /** Gives a wrong byte at first, or always. */
  private static final class SpoiltInput extends CrailBufferedInputStream {
    private final byte[] bytes;
    private final boolean always;
    private boolean given;
    private int readAgain;

    SpoiltInput(byte[] bytes, boolean always) {
      this.bytes = bytes;
      this.always = always;
    }

    @Override
    protected ByteBuffer nextSlice(boolean wait) {
      if (given) {
        return null;
      }
      given = true;
      byte[] wrong = bytes.clone();
      wrong[7] ^= 1;
      return ByteBuffer.wrap(wrong);
    }

    @Override
    protected int readAt(long position, byte[] target, int offset, int length) {
      readAgain++;
      System.arraycopy(bytes, (int) position, target, offset, length);
      target[offset] ^= (byte) (always ? 1 : 0);
      return length;
    }

    @Override
    public void seek(long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
      return given ? bytes.length : 0;
    }

    @Override
    public void close() {}
  }

  @Test
  void aDeletedValueIsNotFound() throws Exception {
    ValueFile file = write(bytes(1000));
    place.remove(PATH);
    IOException error =
        assertThrows(NodeNotFoundException.class, () -> ValueInput.open(file, store));
    String words = CrailBroadcastException.ofRead("Broadcast(1)", error).getMessage();
    assertTrue(words.startsWith("Broadcast(1) was destroyed, or its application has ended"), words);
  }

  /** Its space may get other bytes meanwhile, which must not be seen. */
  @Test
  void aValueThatIsDeletedWhileItIsReadGivesNoWrongByte() throws Exception {
    byte[] bytes = bytes(40 * MIB);
    ValueFile file = write(bytes);
    byte[] seen = new byte[bytes.length];
    int count = 0;
    try (ValueInput in = ValueInput.open(file, store);
        CrailStore other = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      count = in.readNBytes(seen, 0, ValueFile.CHUNK_BYTES);
      other.delete(PATH, false).get();
      try {
        replace(new byte[40 * MIB]);
      } catch (NoSpaceException e) {
        // The reader's lease keeps the space.
      }
      for (int part = 1; part > 0; count += part) {
        part = Math.max(0, in.read(seen, count, seen.length - count));
      }
      assertEquals(bytes.length, count);
    } catch (CrailException | CorruptValueException e) {
      assertEquals(0, count % ValueFile.CHUNK_BYTES, e::toString);
    }
    assertArrayEquals(Arrays.copyOf(bytes, count), Arrays.copyOf(seen, count));
  }

  @Test
  void onlyLargeValuesAreWritten() throws Exception {
    byte[] value = bytes(100);
    ByteArrayOutputStream serialized = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(serialized)) {
      out.writeObject(value);
    }
    assertEquals(Optional.empty(), store(value, serialized.size() + 1));
    assertNull(store.lookup("/app").get());
    ValueFile file = store(value, serialized.size()).orElseThrow();
    assertEquals(serialized.size(), file.length());
    assertArrayEquals(value, Values.<byte[]>read(file, store, serializer, in -> in));
  }

  /** Fails when most of it is written. */
  private static final class Unfinished implements Serializable {
    private static final long serialVersionUID = 1L;

    private void writeObject(ObjectOutputStream out) throws IOException {
      out.writeObject(bytes(6 * MIB));
      throw new IllegalStateException("half-way");
    }
  }

  @Test
  void aValueThatFailsHalfwayLeavesNoFile() throws Exception {
    assertThrows(IllegalStateException.class, () -> store(new Unfinished(), MIB));
    assertTrue(!exists());
    assertNotNull(store.lookup("/app/broadcast").get());
  }

  @Test
  void aStoreWithoutRoomSaysSoAndKeepsNothing() throws Exception {
    assertThrows(NoSpaceException.class, () -> store(bytes(80 * MIB), MIB));
    assertTrue(!exists());
    // The space is free again.
    assertTrue(store(bytes(40 * MIB), MIB).isPresent());
  }
}
