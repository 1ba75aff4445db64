/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A sealed output that can be read. Thread-safe.
 *
 * @param file the file
 * @param index its index
 */
public record MapOutput(CrailFile file, OutputIndex index) {
  /** Finds an output and reads its index. */
  public static MapOutput open(CrailStore store, String path, OutputId id) throws IOException {
    try {
      CrailNode node = store.lookup(path).get();
      if (node == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path);
      }
      return open(node.asFile(), id);
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** Reads the index of an output, with memory of the store. */
  public static MapOutput open(CrailFile file, OutputId id) throws IOException {
    try (CrailBufferedInputStream in = file.getBufferedInputStream(0)) {
      ByteBuffer trailer = tail(file, in, OutputIndex.TRAILER_BYTES);
      int bytes = OutputIndex.bytes(trailer, file.getCapacity());
      return of(file, tail(file, in, bytes), id);
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  private static ByteBuffer tail(CrailFile file, CrailBufferedInputStream in, int bytes)
      throws IOException {
    byte[] tail = new byte[(int) Math.min(bytes, file.getCapacity())];
    int count = in.read(file.getCapacity() - tail.length, tail, 0, tail.length);
    if (count < tail.length) {
      throw new CorruptOutputException(file.getPath() + " ends after " + count + " bytes of index");
    }
    return ByteBuffer.wrap(tail);
  }

  /**
   * Reads an index from memory.
   *
   * @param tail the last bytes of the file, at least all of the index
   */
  public static MapOutput of(CrailFile file, ByteBuffer tail, OutputId id) throws IOException {
    int bytes = OutputIndex.bytes(tail, file.getCapacity());
    ByteBuffer index = tail.slice(tail.limit() - bytes, bytes);
    return new MapOutput(file, OutputIndex.decode(index, file.getCapacity(), id));
  }
}
