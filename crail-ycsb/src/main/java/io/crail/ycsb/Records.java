/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import io.crail.CrailBuffer;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.UUID;
import java.util.concurrent.ExecutionException;

/** The records of tables, as bytes. A read returns all bytes of one put. Used by one thread. */
final class Records implements AutoCloseable {
  /** A read gives up when the record was replaced this many times during the read. */
  private static final int MOST_TRIES = 1000;

  /** Of the name of a node, in UTF-8. */
  private static final int MOST_NAME_BYTES = 255;

  private final CrailStore store;
  private final boolean enumerable;
  private final String temporary = KeyNames.RESERVED + UUID.randomUUID();
  private final CrailBuffer buffer;
  private String known = "";

  /**
   * Creates an object with a buffer of the store.
   *
   * @param enumerable whether listings show the records
   * @throws Exception as {@link CrailStore#allocateBuffer}
   */
  Records(CrailStore store, boolean enumerable) throws Exception {
    this.store = store;
    this.enumerable = enumerable;
    this.buffer = store.allocateBuffer();
  }

  /** The path of a record. */
  static String path(String table, String key) {
    return table + '/' + KeyNames.encode(key);
  }

  /**
   * Creates a table unless it exists.
   *
   * @throws Exception a {@code WrongTypeException} when the path has a node of another type
   */
  void ensureTable(String table) throws Exception {
    if (table.equals(known)) {
      return;
    }
    CrailNode node = join(store.lookup(table));
    if (node == null) {
      try {
        node =
            join(
                store.create(
                    table,
                    CrailNodeType.TABLE,
                    CrailStorageClass.PARENT,
                    CrailLocationClass.PARENT,
                    true));
      } catch (CrailException e) {
        if (e.code() != ErrorCode.NODE_EXISTS) {
          throw e;
        }
        node = join(store.lookup(table));
      }
    }
    if (node != null) {
      node.asTable();
    }
    known = table;
  }

  /** Puts a record. It takes the place of an existing one. */
  void insert(String path, byte[] record) throws Exception {
    try {
      put(path, record);
    } catch (CrailException e) {
      // Another process has put the record since. That put wins.
      if (!isStale(e)) {
        throw e;
      }
    }
  }

  /**
   * Replaces a record. A reader gets either the old record or the new one. When this fails, or its
   * process ends in the middle, the old record stays: the new record is put under a temporary name
   * of this object, and then renamed.
   */
  void replace(String table, String path, byte[] record) throws Exception {
    String written = table + '/' + temporary(path.substring(table.length() + 1));
    try {
      put(written, record);
      join(store.rename(written, path, true));
    } catch (Exception e) {
      try {
        delete(written);
      } catch (Exception suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /** A temporary name at the namenode that has a name, also in a spread table. */
  private String temporary(String name) {
    String beside = temporary + '{' + name + '}';
    // Of the longest names, only those in other tables can be replaced.
    return beside.getBytes(StandardCharsets.UTF_8).length <= MOST_NAME_BYTES ? beside : temporary;
  }

  private void put(String path, byte[] record) throws Exception {
    CrailBuffer value =
        record.length <= buffer.capacity()
            ? buffer
            : OffHeapBuffer.wrap(ByteBuffer.allocateDirect(record.length));
    value.clear();
    value.put(record).flip();
    join(store.put(path, value, CrailStorageClass.PARENT, CrailLocationClass.PARENT, enumerable));
  }

  /**
   * Reads a record.
   *
   * @return null when there is no record; no bytes when they have not arrived yet, since the put is
   *     under way or its process has ended
   */
  byte[] read(String path) throws Exception {
    buffer.clear();
    CrailResult found;
    try {
      found = join(store.get(path, buffer));
    } catch (CrailException e) {
      if (e.code() == ErrorCode.INVALID_ARGUMENT) {
        // The record is larger than the buffer.
        return read(path, join(store.lookup(path)));
      }
      throw e;
    }
    if (found == null) {
      return null;
    }
    byte[] record = new byte[(int) found.getLen()];
    buffer.get(record);
    return record;
  }

  /** Reads a record that a lookup has found. */
  private byte[] read(String path, CrailNode found) throws Exception {
    CrailNode node = found;
    for (int i = 1; node != null; i++) {
      try {
        return bytes(node.asKeyValue());
      } catch (ExecutionException e) {
        if (!isStale(e.getCause()) || i == MOST_TRIES) {
          throw e;
        }
      } catch (CrailException e) {
        if (!isStale(e) || i == MOST_TRIES) {
          throw e;
        }
      }
      // The record was put again or deleted meanwhile.
      node = join(store.lookup(path));
    }
    return null;
  }

  private static boolean isStale(Throwable failure) {
    return failure instanceof CrailException
        && (((CrailException) failure).code() == ErrorCode.STALE_NODE
            || ((CrailException) failure).code() == ErrorCode.STALE_EXTENT);
  }

  private byte[] bytes(CrailKeyValue value) throws Exception {
    byte[] record = new byte[Math.toIntExact(value.getCapacity())];
    CrailInputStream stream = value.getDirectInputStream(record.length);
    try {
      int done = 0;
      while (done < record.length) {
        buffer.clear();
        buffer.limit(Math.min(buffer.capacity(), record.length - done));
        int part = (int) stream.read(buffer).get().getLen();
        if (part == 0) {
          throw new CorruptRecordException(done + " of " + record.length + " bytes are there");
        }
        buffer.flip();
        buffer.get(record, done, part);
        done += part;
      }
    } finally {
      stream.close();
    }
    return record;
  }

  /**
   * Deletes a record.
   *
   * @return false when there is none
   */
  boolean delete(String path) throws Exception {
    try {
      join(store.delete(path, false));
      return true;
    } catch (CrailException e) {
      if (e.code() == ErrorCode.NODE_NOT_FOUND || e.code() == ErrorCode.PARENT_NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Reads records in the order of their keys, beginning with a key. Records that are deleted
   * meanwhile are left out.
   *
   * @param first the first key; it need not exist
   * @param count the most records
   */
  List<byte[]> scan(String table, String first, int count) throws Exception {
    List<Upcoming<CrailNode>> lookups = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    for (String key : keys(table, first, count)) {
      String path = path(table, key);
      paths.add(path);
      lookups.add(store.lookup(path));
    }
    List<byte[]> records = new ArrayList<>(paths.size());
    for (int i = 0; i < paths.size(); i++) {
      byte[] record = read(paths.get(i), join(lookups.get(i)));
      if (record != null && record.length > 0) {
        records.add(record);
      }
    }
    return records;
  }

  /**
   * The first keys from {@code first} on. The namenode lists keys in no order, so this reads the
   * whole listing.
   */
  private List<String> keys(String table, String first, int count) throws Exception {
    CrailNode node = count > 0 ? join(store.lookup(table)) : null;
    if (node == null) {
      return List.of();
    }
    PriorityQueue<String> least = new PriorityQueue<>(Collections.reverseOrder());
    for (Iterator<String> paths = node.asTable().listEntries(); paths.hasNext(); ) {
      String path = paths.next();
      String key = KeyNames.decode(path.substring(path.lastIndexOf('/') + 1));
      if (key != null && key.compareTo(first) >= 0) {
        if (least.size() == count && key.compareTo(least.peek()) < 0) {
          least.poll();
        }
        if (least.size() < count) {
          least.add(key);
        }
      }
    }
    List<String> keys = new ArrayList<>(least);
    Collections.sort(keys);
    return keys;
  }

  private static <T> T join(Upcoming<T> operation) throws Exception {
    try {
      return operation.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CrailException) {
        throw (CrailException) e.getCause();
      }
      throw e;
    }
  }

  /** Gives the buffer back. */
  @Override
  public void close() throws Exception {
    store.freeBuffer(buffer);
  }
}
