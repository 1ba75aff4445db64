/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.Future;

/** Bytes for streams, and short ways to write and read them. */
final class Bytes {
  private Bytes() {}

  /** The seed of a random test: a new one, or that of {@code -Dcrail.seed}. */
  static long seed(String test) {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println(test + ": -Dcrail.seed=" + seed);
    return seed;
  }

  static byte[] random(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** A direct buffer that holds {@code bytes} from {@code position} on. */
  static CrailBuffer buffer(byte[] bytes, int position) {
    CrailBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(position + bytes.length));
    buffer.position(position);
    buffer.put(bytes);
    buffer.position(position);
    return buffer;
  }

  static CrailBuffer buffer(byte[] bytes) {
    return buffer(bytes, 0);
  }

  static CrailBuffer empty(int capacity) {
    return OffHeapBuffer.wrap(ByteBuffer.allocateDirect(capacity));
  }

  static CrailFile createFile(CrailStore store, String path) throws Exception {
    return store
        .create(
            path, CrailNodeType.DATAFILE, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true)
        .get()
        .asFile();
  }

  static void create(CrailStore store, String path, CrailNodeType type) throws Exception {
    store
        .create(path, type, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true)
        .get()
        .syncDir();
  }

  /** Creates a file with content. */
  static CrailFile write(CrailStore store, String path, byte[] bytes) throws Exception {
    CrailFile file = createFile(store, path);
    append(file, bytes);
    return file;
  }

  static void append(CrailFile file, byte[] bytes) throws Exception {
    CrailOutputStream output = file.getDirectOutputStream(bytes.length);
    if (bytes.length > 0) {
      assertEquals(bytes.length, output.write(buffer(bytes)).get().getLen());
    }
    output.close();
  }

  static byte[] read(CrailFile file) throws Exception {
    int length = (int) file.getCapacity();
    CrailInputStream input = file.getDirectInputStream(length);
    try {
      return read(input, length);
    } finally {
      input.close();
    }
  }

  static byte[] read(CrailInputStream input, int length) throws Exception {
    CrailBuffer buffer = empty(length);
    while (buffer.hasRemaining()) {
      Future<CrailResult> future = input.read(buffer);
      if (future.get().getLen() == 0) {
        break;
      }
    }
    return bytesOf(buffer);
  }

  /** The bytes before the position. */
  static byte[] bytesOf(CrailBuffer buffer) {
    buffer.flip();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }
}
