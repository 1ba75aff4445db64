/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.cache.CacheStatistics.Counter;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.ParentNotFoundException;
import io.crail.memory.BufferPool;
import java.io.Closeable;
import java.io.IOException;
import java.util.Iterator;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Crail, as the cache of one source. No method throws an error of Crail: it is counted, Crail is
 * left alone for a while, and the caller learns that there is no answer. Thread-safe.
 */
final class CacheStore implements Closeable {
  /** The length of a value that is not there. */
  static final int ABSENT = -1;

  /** The length of a value of which nothing is known, since Crail does not answer. */
  static final int UNKNOWN = -2;

  private static final Logger LOG = LoggerFactory.getLogger(CacheStore.class);

  /** Bytes of a buffer for a small value. */
  private static final int SMALL_BYTES = 16 << 10;

  private static final int SMALL_LIMIT = 16 << 20;

  private final CrailStore store;
  private final CacheNames names;
  private final CacheStatistics statistics;
  private final BackOff backOff;
  private final BufferPool small = new BufferPool(SMALL_BYTES, SMALL_LIMIT);

  /** An operation on the store. */
  @FunctionalInterface
  private interface Step<T> {
    T run() throws Exception;
  }

  /** Uses a store, which is closed with this. */
  CacheStore(
      CrailStore store, CacheNames names, CacheSettings settings, CacheStatistics statistics) {
    this.store = store;
    this.names = names;
    this.statistics = statistics;
    this.backOff = new BackOff(settings.backOff(), settings.probe(), System::nanoTime);
  }

  /** Opens it; nothing is sent. Fails for settings with which there can be no store. */
  static CacheStore open(CacheNames names, CacheSettings settings, CacheStatistics statistics)
      throws IOException {
    try {
      CrailStore store = CrailStore.newInstance(settings.store());
      return new CacheStore(store, names, settings, statistics);
    } catch (Exception e) {
      throw new IOException("no cache in Crail: " + e.getMessage(), e);
    }
  }

  /** Whether Crail may be asked now. If it is not, the source is to answer. */
  boolean mayAsk() {
    return backOff.mayAsk();
  }

  /**
   * Waits for an operation. An interrupt stays set and does not end the wait, since the operation
   * would still use the caller's memory. The operation has a deadline.
   */
  private static <T> T await(Future<T> operation) throws Exception {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return operation.get();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Runs a step.
   *
   * @param refused the result if Crail answers that it cannot do that
   * @param unknown the result if Crail does not answer
   */
  private <T> T attempt(Step<T> step, T refused, T unknown) {
    try {
      T result = step.run();
      backOff.succeeded();
      return result;
    } catch (CrailException e) {
      if (isAnswer(e.code())) {
        backOff.succeeded();
        LOG.debug("refused", e);
        return refused;
      }
      failed(e);
    } catch (Exception e) {
      failed(e);
    }
    return unknown;
  }

  /** Whether a code says that Crail works, though not for this. */
  private static boolean isAnswer(ErrorCode code) {
    switch (code) {
      case INVALID_ARGUMENT:
      case INVALID_PATH:
      case NODE_NOT_FOUND:
      case NODE_EXISTS:
      case PARENT_NOT_FOUND:
      case NOT_A_CONTAINER:
      case WRONG_TYPE:
      case NOT_EMPTY:
      case STALE_NODE:
      case WRITE_LEASE_HELD:
      case WRITE_LEASE_LOST:
      case NO_SPACE:
      case SPACE_TO_COME:
      case DATA_LOST:
        return true;
      default:
        return false;
    }
  }

  private void failed(Exception cause) {
    statistics.increment(Counter.FAILURES);
    if (backOff.failed()) {
      LOG.warn("{}: no answer from Crail, so the source is read for a while", names.root(), cause);
    }
  }

  /** Makes the tables if they are what a step misses, and repeats it. */
  private <T> T inTables(Step<T> step) throws Exception {
    try {
      return step.run();
    } catch (ParentNotFoundException e) {
      makeTables();
      return step.run();
    }
  }

  private void makeTables() throws Exception {
    for (int end = names.root().indexOf('/', 1); end >= 0; ) {
      makeDirectory(names.root().substring(0, end));
      end = names.root().indexOf('/', end + 1);
    }
    makeDirectory(names.root());
    spread(names.statuses(), CrailNodeType.TABLE);
    spread(names.blocks(), CrailNodeType.TABLE);
    spread(names.claims(), CrailNodeType.DIRECTORY);
  }

  private void makeDirectory(String path) throws Exception {
    try {
      await(
          store.create(
              path,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true));
    } catch (NodeExistsException e) {
      LOG.debug("another one has made {}", path);
    }
  }

  private void spread(String path, CrailNodeType type) throws Exception {
    try {
      await(
          store.createSpread(
              path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true));
    } catch (NodeExistsException e) {
      LOG.debug("another one has made {}", path);
    }
  }

  /**
   * Gets a value.
   *
   * @param target has room for it, from its position on
   * @return its length, {@link #ABSENT} or {@link #UNKNOWN}
   */
  int get(String path, CrailBuffer target) {
    return attempt(
        () -> {
          CrailResult result = await(store.get(path, target));
          return result == null ? ABSENT : (int) result.getLen();
        },
        ABSENT,
        UNKNOWN);
  }

  /** Gets a small value; null if it is not there, is too long, or Crail does not answer. */
  byte[] getSmall(String path) {
    return attempt(
        () -> {
          CrailBuffer buffer = small.allocateBuffer();
          try {
            CrailResult result = await(store.get(path, buffer));
            if (result == null) {
              return null;
            }
            byte[] value = new byte[(int) result.getLen()];
            buffer.get(value);
            return value;
          } finally {
            small.freeBuffer(buffer);
          }
        },
        null,
        null);
  }

  /** What became of a put. */
  enum Put {
    /** The value is there. */
    DONE,
    /** There was no space. */
    FULL,
    /** It is not there, or this is not known. */
    FAILED
  }

  /** Puts a value. */
  Put put(String path, CrailBuffer value) {
    return attempt(
        () ->
            inTables(
                () -> {
                  // A second attempt begins again.
                  int from = value.position();
                  try {
                    await(store.put(path, value));
                    return Put.DONE;
                  } catch (NoSpaceException e) {
                    return Put.FULL;
                  } finally {
                    value.position(from);
                  }
                }),
        Put.FAILED,
        Put.FAILED);
  }

  /**
   * Begins a small value: it takes the place of an older one, and is empty until it is filled. If
   * it is removed, or another one is begun, before it is filled, it stays invisible.
   *
   * @return null if Crail does not do that
   */
  CrailKeyValue begin(String path) {
    return attempt(
        () ->
            inTables(
                () ->
                    await(
                            store.create(
                                path,
                                CrailNodeType.KEYVALUE,
                                CrailStorageClass.PARENT,
                                CrailLocationClass.PARENT,
                                true))
                        .asKeyValue()),
        null,
        null);
  }

  /**
   * Gives a value that was begun its bytes.
   *
   * @return false if it was removed or replaced meanwhile, or Crail does not answer
   */
  boolean fill(CrailKeyValue begun, byte[] value) {
    if (value.length > SMALL_BYTES) {
      return false;
    }
    return attempt(
        () -> {
          CrailBuffer buffer = small.allocateBuffer();
          try {
            buffer.put(value).flip();
            CrailOutputStream out = begun.getDirectOutputStream(value.length);
            try {
              await(out.write(buffer));
            } finally {
              out.close();
            }
            return true;
          } finally {
            small.freeBuffer(buffer);
          }
        },
        false,
        false);
  }

  /** Removes a value that was begun and is not filled, unless another one has taken its place. */
  void drop(CrailKeyValue begun) {
    attempt(
        () -> {
          // Fails if it is another node.
          begun.refresh();
          await(store.delete(begun.getPath(), false));
          return true;
        },
        false,
        false);
  }

  /**
   * Removes a node.
   *
   * @return whether Crail has answered, so that it is not there now
   */
  boolean remove(String path) {
    return attempt(
        () -> {
          await(store.delete(path, false));
          return true;
        },
        true,
        false);
  }

  /** Sets when a node was used last, without waiting for that. */
  void stamp(String path, long usedMillis) {
    if (mayAsk()) {
      attempt(
          () -> store.setAttributes(path, CrailAttributeChanges.ofTimes(null, usedMillis)),
          null,
          null);
    }
  }

  /** The space of the cluster; null if Crail does not answer. */
  CrailSpace space() {
    return attempt(store::getSpace, null, null);
  }

  /** Takes a node of a table. */
  interface Scan {
    void node(String path, long length, long usedMillis);
  }

  /** Lists the nodes of a container; returns whether all were listed. */
  boolean scan(String container, Scan scan) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(container));
          if (node != null) {
            for (Iterator<CrailNode> nodes = node.asContainer().listStatus(); nodes.hasNext(); ) {
              CrailNode next = nodes.next();
              scan.node(next.getPath(), next.getCapacity(), next.getAttributes().accessTime());
            }
          }
          return true;
        },
        false,
        false);
  }

  /** Removes the nodes of a container that were changed last before a time. */
  void removeOlder(String container, long beforeMillis) {
    attempt(
        () -> {
          CrailNode node = await(store.lookup(container));
          if (node != null) {
            for (Iterator<CrailNode> nodes = node.asContainer().listStatus(); nodes.hasNext(); ) {
              CrailNode next = nodes.next();
              if (next.getModificationTime() < beforeMillis) {
                remove(next.getPath());
              }
            }
          }
          return true;
        },
        false,
        false);
  }

  /** Removes all children of a container whose names fit; gives their number, -1 if not all are. */
  int removeAll(String container, Predicate<String> names) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(container));
          if (node == null) {
            return 0;
          }
          int removed = 0;
          int above = container.length() + 1;
          for (Iterator<String> paths = node.asContainer().listEntries(); paths.hasNext(); ) {
            String path = paths.next();
            if (names.test(path.substring(above))) {
              if (!remove(path)) {
                return -1;
              }
              removed++;
            }
          }
          return removed;
        },
        0,
        -1);
  }

  /** Makes a node that nobody else has made; null if Crail does not answer. */
  Boolean claim(String path) {
    return attempt(
        () -> {
          Upcoming<CrailNode> made =
              inTables(
                  () -> {
                    Upcoming<CrailNode> create =
                        store.create(
                            path,
                            CrailNodeType.DATAFILE,
                            CrailStorageClass.DEFAULT,
                            CrailLocationClass.DEFAULT,
                            true);
                    await(create);
                    return create;
                  });
          return made != null;
        },
        false,
        null);
  }

  /** When a node was made, milliseconds since 1970; 0 if it is not there or Crail is silent. */
  long madeMillis(String path) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(path));
          return node == null ? 0 : node.getModificationTime();
        },
        0L,
        0L);
  }

  @Override
  public void close() throws IOException {
    try {
      store.close();
    } catch (Exception e) {
      throw new IOException("the store of " + names.root() + " does not close", e);
    } finally {
      small.close();
    }
  }
}
