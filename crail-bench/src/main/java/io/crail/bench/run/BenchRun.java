/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Memory;
import io.crail.bench.record.Pipeline;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.NotEmptyException;
import io.crail.memory.OffHeapBuffer;
import java.io.PrintStream;

/**
 * The common part of the workloads of an experiment: options, store, and helpers that most
 * workloads use.
 *
 * @param options the options, with the size filled in
 * @param store the store
 * @param embedded whether the cluster is new, so that nothing on it comes from an earlier run
 * @param out where requested output goes
 * @param notices where remarks go
 * @param terminal whether {@code notices} go to a terminal
 * @param worker the index of this workload among those that run at the same time; the first is 0
 */
public record BenchRun(
    BenchOptions<?> options,
    CrailStore store,
    boolean embedded,
    PrintStream out,
    PrintStream notices,
    boolean terminal,
    int worker) {
  /** The most bytes of a file that is written only to be read. */
  public static final long MAX_PREPARED_BYTES = 1L << 30;

  private static final long MAX_BUFFER_BYTES = 1L << 31;
  private static final int PREPARE_SIZE = 1 << 20;

  /** Prints a remark. */
  public void notice(String text) {
    notices.println(Printable.line(text));
  }

  /** Prints output that the user has asked for. */
  public void print(String text) {
    out.println(Printable.line(text));
  }

  /**
   * The file that this worker writes: {@code -f} for the first worker, a file beside it for any
   * other.
   */
  public String ownPath() {
    return worker == 0 ? options.path() : options.path() + "." + worker;
  }

  /** An unused path below {@code -f}. */
  public String uniquePath() {
    return childOf(options.path(), "iobench-" + worker + "-" + System.nanoTime());
  }

  /** The path of a child. */
  public static String childOf(String parent, String name) {
    return (parent.endsWith("/") ? parent : parent + "/") + name;
  }

  /** Deletes {@link #ownPath}, unless it is {@code -f} itself, which is kept. */
  public void deleteOwnPath() throws Exception {
    if (worker > 0) {
      deleteIfPresent(ownPath(), false);
    }
  }

  /** A buffer of the size of an operation. Every page of it has been touched. */
  public CrailBuffer newBuffer() {
    return OffHeapBuffer.wrap(Memory.direct(options.size()));
  }

  /** A large buffer, for moving all bytes once. */
  public CrailBuffer newTouchBuffer() {
    return OffHeapBuffer.wrap(Memory.direct(PREPARE_SIZE));
  }

  /** A buffer for each operation in flight. */
  public CrailBuffer[] newBuffers() throws BenchException {
    if ((long) options.batch() * options.size() > MAX_BUFFER_BYTES) {
      throw new BenchException(
          "-b "
              + options.batch()
              + " buffers of -s "
              + options.size()
              + " bytes are more than the "
              + ByteText.of(MAX_BUFFER_BYTES)
              + " that this client takes");
    }
    CrailBuffer[] buffers = new CrailBuffer[options.batch()];
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = newBuffer();
    }
    return buffers;
  }

  /** Creates a node with the storage and location class of the options. */
  public CrailNode create(String path, CrailNodeType type) throws Exception {
    return Pipeline.await(issueCreate(path, type));
  }

  /** Issues the create of a node with the storage and location class of the options. */
  public Upcoming<CrailNode> issueCreate(String path, CrailNodeType type) throws Exception {
    return store.create(
        path,
        type,
        CrailStorageClass.get(options.storageClass()),
        CrailLocationClass.get(options.locationClass()),
        options.enumerable());
  }

  /** The node at a path; null when there is none. */
  public CrailNode lookup(String path) throws Exception {
    return Pipeline.await(store.lookup(path));
  }

  /** Deletes the node at a path, if there is one. */
  public void deleteIfPresent(String path, boolean recursive) throws Exception {
    if (lookup(path) != null) {
      try {
        Pipeline.await(store.delete(path, recursive));
      } catch (NodeNotFoundException e) {
        // Another client has deleted it first.
      }
    }
  }

  /** Deletes a directory, if it exists and is empty. */
  public void deleteIfEmpty(String path) throws Exception {
    try {
      deleteIfPresent(path, false);
    } catch (NotEmptyException e) {
      // Another worker still uses it, and deletes it in the end.
    }
  }

  /** Creates a file, and replaces an existing file. A node of another type is not replaced. */
  public CrailFile replaceFile(String path) throws Exception {
    CrailNode old = lookup(path);
    if (old != null) {
      if (old.getType() != CrailNodeType.DATAFILE) {
        throw wrongType(old, "a file");
      }
      Pipeline.await(store.delete(path, false));
    }
    return create(path, CrailNodeType.DATAFILE).asFile();
  }

  /**
   * Checks, before anything is written, that the files of all workers have room. It refuses only
   * what cannot fit: later, others may have taken space, or the file's class may have less.
   *
   * @param bytes what each worker writes
   * @param more what is written besides at the same time
   * @throws BenchException when there is less space than that; it says what to do
   */
  public void checkFits(long bytes, long more) throws Exception {
    if (worker > 0) {
      // The first has checked for all.
      return;
    }
    CrailSpace space = store.getSpace();
    if (!space.missing().isEmpty()) {
      return;
    }
    CrailNode old = lookup(ownPath());
    long replaced = old == null ? 0 : old.getCapacity();
    long room = space.freeBytes() + space.waitingBytes() + replaced;
    int workers = options.frame().workers();
    if (bytes > (room - more) / workers) {
      throw new BenchException(
          (workers == 1 ? "" : workers + " workers write ")
              + ByteText.of(bytes)
              + (workers == 1 ? " are to be written" : " each")
              + (more == 0 ? "" : ", and " + ByteText.of(more) + " to warm up")
              + "; the cluster has room for "
              + ByteText.of(room)
              + " (crail df): take a smaller -k, -s or -w, or start more datanodes");
    }
  }

  /** Counts the bytes that a preparation moves, and shows them if there is a terminal. */
  public Preparation preparation(String what, long bytes) {
    return new Preparation(terminal ? notices : null, what, bytes);
  }

  /** The error for a node of a type that cannot be measured. */
  public BenchException wrongType(CrailNode node, String needed) {
    return new BenchException(
        node.getPath()
            + " is a "
            + node.getType()
            + "; "
            + options.type().label()
            + " needs "
            + needed);
  }

  /** The error for a path without a node; it says how to create one. */
  public BenchException missing(String path, String command) {
    return new BenchException(path + " does not exist; write it first: crail iobench " + command);
  }

  /**
   * The node at {@code -f}. On an embedded cluster a missing node is created, as a file of one
   * byte.
   */
  public CrailNode existing() throws Exception {
    String path = options.path();
    CrailNode node = lookup(path);
    if (node == null) {
      if (!embedded) {
        throw missing(path, "-t write -f " + path);
      }
      notice("The embedded cluster is empty: writing " + path + " with one byte first");
      writeFile(create(path, CrailNodeType.DATAFILE).asFile(), 1);
      node = lookup(path);
    }
    return node;
  }

  /** The node as a file or key-value. */
  public static CrailFile fileOf(CrailNode node) throws Exception {
    return node.getType() == CrailNodeType.KEYVALUE ? node.asKeyValue() : node.asFile();
  }

  /**
   * Opens the file {@code -f}, which has enough bytes for an operation. On an embedded cluster a
   * missing file is written first.
   *
   * @param bytes the desired length of the file
   * @throws BenchException when the file is missing or too short; it says how to write it
   */
  public CrailFile openForReading(long bytes) throws Exception {
    String path = options.path();
    CrailNode node = lookup(path);
    if (node == null && embedded) {
      // This size is the first of several; the file has to be long enough for all.
      long largest = options.largestSize();
      long length =
          Math.max(largest, Math.min(bytes / options.size() * largest, MAX_PREPARED_BYTES));
      notice(
          "The embedded cluster is empty: writing "
              + path
              + " with "
              + ByteText.of(length)
              + " first");
      writeFile(create(path, CrailNodeType.DATAFILE).asFile(), length);
      node = lookup(path);
    }
    if (node == null) {
      throw missing(path, writeCommand(Math.max(1, options.loop())));
    }
    if (node.getType() != CrailNodeType.DATAFILE && node.getType() != CrailNodeType.KEYVALUE) {
      throw wrongType(node, "a file");
    }
    if (node.getCapacity() < options.size()) {
      throw new BenchException(
          path
              + " has "
              + node.getCapacity()
              + " bytes, fewer than -s "
              + options.size()
              + "; take a smaller -s or write it anew: crail iobench "
              + writeCommand(1));
    }
    return fileOf(node);
  }

  private String writeCommand(long loop) {
    return "-t write -s " + options.size() + " -k " + loop + " -f " + options.path();
  }

  /** Writes a file of a length and closes it. */
  public void writeFile(CrailFile file, long length) throws Exception {
    CrailBuffer buffer = OffHeapBuffer.wrap(Memory.direct((int) Math.min(length, PREPARE_SIZE)));
    CrailOutputStream stream = file.getDirectOutputStream(length);
    try (Preparation preparation = preparation("writing", length)) {
      for (long left = length; left > 0; left -= buffer.limit()) {
        buffer.clear();
        buffer.limit((int) Math.min(left, buffer.capacity()));
        Pipeline.await(stream.write(buffer));
        preparation.moved(buffer.limit());
      }
    } finally {
      stream.close();
    }
  }

  /** Creates a directory unless it exists. Returns true when it was created. */
  public boolean ensureDirectory(String path) throws Exception {
    CrailNode node = lookup(path);
    if (node == null) {
      try {
        create(path, CrailNodeType.DIRECTORY).syncDir();
        return true;
      } catch (NodeExistsException e) {
        // Another client has created it first.
        node = lookup(path);
      }
    }
    if (node == null) {
      throw new BenchException(path + " is gone");
    }
    if (node.getType() != CrailNodeType.DIRECTORY) {
      throw wrongType(node, "a directory");
    }
    return false;
  }
}
