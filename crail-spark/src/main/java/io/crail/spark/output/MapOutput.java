/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.memory.OffHeapBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Future;

/**
 * A sealed output that can be read. Thread-safe.
 *
 * @param file the file
 * @param index its index
 */
public record MapOutput(CrailFile file, OutputIndex index) {
  private static final int FIRST_GUESS = 4096;

  /** Finds an output and reads its index. */
  public static MapOutput open(CrailStore store, String path, OutputId id) throws IOException {
    try {
      return new Opening(id, path, store.lookup(path), FIRST_GUESS).get();
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /**
   * The opening of an output, of which many may be in flight: {@link #readTail} once the lookup has
   * ended, {@link #get} once the read has. Used by one thread.
   */
  public static final class Opening {
    private final OutputId id;
    private final String path;
    private final Future<CrailNode> lookup;
    private final int guess;
    private CrailFile file;
    private ByteBuffer memory;
    private CrailInputStream stream;
    private Future<CrailResult> read;

    /**
     * Begins.
     *
     * @param lookup the lookup of the path
     * @param guess how many bytes the index is expected to have
     */
    public Opening(OutputId id, String path, Future<CrailNode> lookup, int guess) {
      this.id = id;
      this.path = path;
      this.lookup = lookup;
      this.guess = Math.max(guess, OutputIndex.TRAILER_BYTES);
    }

    /** Waits for the lookup and issues the read of the index. */
    public void readTail() throws Exception {
      CrailNode node = lookup.get();
      if (node == null) {
        throw ErrorCode.NODE_NOT_FOUND.exception(path);
      }
      file = node.asFile();
      read((int) Math.min(file.getCapacity(), guess));
    }

    private void read(int bytes) throws Exception {
      memory = ByteBuffer.allocateDirect(bytes);
      stream = file.getDirectInputStream(0);
      stream.seek(file.getCapacity() - bytes);
      read = stream.read(OffHeapBuffer.wrap(memory));
    }

    /** Waits for the index. */
    public MapOutput get() throws Exception {
      if (read == null) {
        readTail();
      }
      int bytes = OutputIndex.bytes(finish(), file.getCapacity());
      if (bytes > memory.limit()) {
        read(bytes);
        finish();
      }
      memory.position(memory.limit() - bytes);
      return new MapOutput(file, OutputIndex.decode(memory.slice(), file.getCapacity(), id));
    }

    private ByteBuffer finish() throws Exception {
      long length = read.get().getLen();
      stream.close();
      if (length < memory.capacity()) {
        throw new CorruptOutputException(path + " ends after " + length + " bytes of its index");
      }
      return memory.clear();
    }
  }
}
