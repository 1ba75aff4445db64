/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import static io.crail.cache.CacheTables.await;

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
import io.crail.cache.CacheStatistics.Counter;
import io.crail.cache.CacheTables.Step;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.ParentNotFoundException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.memory.BufferPool;
import java.io.Closeable;
import java.io.IOException;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
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
  private final CacheTables tables;
  private final CacheStatistics statistics;
  private final BackOff backOff;
  private final AtomicLong errors = new AtomicLong();
  private final BufferPool small = new BufferPool(SMALL_BYTES, SMALL_LIMIT);

  /** Uses a store, which is closed with this. */
  CacheStore(
      CrailStore store, CacheNames names, CacheSettings settings, CacheStatistics statistics) {
    this.store = store;
    this.names = names;
    this.tables = new CacheTables(store, names);
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

  /** Whether Crail would be asked now. If it is not, the source is to answer. */
  boolean mayAsk() {
    return backOff.wouldLet();
  }

  /** How many errors there were, after each of which Crail may have lost something. */
  long errors() {
    return errors.get();
  }

  /**
   * Runs a step, unless Crail is left alone.
   *
   * @param refused the result if Crail answers that it cannot do that
   * @param unknown the result if Crail does not answer, or is not asked
   */
  private <T> T attempt(Step<T> step, T refused, T unknown) {
    if (!backOff.mayAsk()) {
      return unknown;
    }
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
      case QUOTA_EXCEEDED:
      case DATA_LOST:
        return true;
      default:
        return false;
    }
  }

  private void failed(Exception cause) {
    errors.incrementAndGet();
    statistics.increment(Counter.FAILURES);
    if (backOff.failed()) {
      LOG.warn("{}: no answer from Crail, so the source is read for a while", names.root(), cause);
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
            tables.in(
                () -> {
                  // A second attempt begins again.
                  int from = value.position();
                  try {
                    await(store.put(path, value));
                    return Put.DONE;
                  } catch (NoSpaceException e) {
                    return Put.FULL;
                  } catch (LimitExceededException e) {
                    if (e.code() == ErrorCode.QUOTA_EXCEEDED) {
                      return Put.FULL;
                    }
                    throw e;
                  } finally {
                    value.position(from);
                  }
                }),
        Put.FAILED,
        Put.FAILED);
  }

  /** The id of the node of a value; 0 if it is not there, or Crail does not answer. */
  long id(String path) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(path));
          return node == null ? 0L : node.asKeyValue().getFd();
        },
        0L,
        0L);
  }

  /**
   * Begins a small value, which is empty until it is filled. If it is removed, or another one is
   * begun, before it is filled, it stays invisible.
   *
   * @param predecessor the id of the node in whose place it is to be; 0 for none
   * @return null if another one is there, or Crail does not do that
   */
  CrailKeyValue begin(String path, long predecessor) {
    CompoundOperation.Builder steps = CompoundOperation.builder();
    if (predecessor != 0) {
      steps.requireId(predecessor).delete();
    }
    CompoundOperation make = steps.create().build();
    return attempt(
        () -> {
          CompoundResult made = tables.in(() -> await(store.operate(path, make)));
          CrailNode node = made.isSuccess() ? await(store.lookup(path)) : null;
          CrailKeyValue begun = node == null ? null : node.asKeyValue();
          // Else another one was begun since.
          return begun != null && begun.getFd() == made.id() ? begun : null;
        },
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
   * @return whether it is not there now
   */
  boolean remove(String path) {
    return attempt(
        () -> {
          try {
            await(store.delete(path, false));
          } catch (NodeNotFoundException | ParentNotFoundException e) {
            LOG.debug("{} is not there", path);
          }
          return true;
        },
        false,
        false);
  }

  /**
   * Sets when a node was used last, without waiting for that. So this says nothing of whether Crail
   * answers, and is not done while there is doubt.
   */
  void stamp(String path, long usedMillis) {
    if (backOff.isWell()) {
      try {
        store.setAttributes(path, CrailAttributeChanges.ofTimes(null, usedMillis));
      } catch (Exception e) {
        LOG.debug("not stamped: {}", path, e);
      }
    }
  }

  /** The space of the cluster; null if Crail does not answer. */
  CrailSpace space() {
    return attempt(store::getSpace, null, null);
  }

  /** Takes a node of a container. */
  interface Scan {
    void node(CrailNode node) throws Exception;
  }

  /** Lists the nodes of a container; returns whether all were listed. */
  boolean scan(String container, Scan scan) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(container));
          // An answer, so that what the scan does may ask, too.
          backOff.succeeded();
          if (node != null) {
            for (Iterator<CrailNode> nodes = node.asContainer().listStatus(); nodes.hasNext(); ) {
              scan.node(nodes.next());
            }
          }
          return true;
        },
        false,
        false);
  }

  /** Removes the nodes of a container that were changed last before a time. */
  void removeOlder(String container, long beforeMillis) {
    scan(
        container,
        node -> {
          if (node.getModificationTime() < beforeMillis) {
            remove(node.getPath());
          }
        });
  }

  /** Removes all children of a container whose names fit; gives their number, -1 if not all are. */
  int removeAll(String container, Predicate<String> names) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(container));
          backOff.succeeded();
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
        -1,
        -1);
  }

  /**
   * Makes a node.
   *
   * @return false if another one has made it; null if it cannot be made, or Crail does not answer
   */
  Boolean claim(String path) {
    return attempt(
        () -> {
          try {
            tables.in(
                () ->
                    await(
                        store.create(
                            path,
                            CrailNodeType.DATAFILE,
                            CrailStorageClass.DEFAULT,
                            CrailLocationClass.DEFAULT,
                            true)));
            return true;
          } catch (NodeExistsException e) {
            return false;
          }
        },
        null,
        null);
  }

  /** When a node was made, milliseconds since 1970; {@link #ABSENT} or {@link #UNKNOWN}. */
  long madeMillis(String path) {
    return look(path, CrailNode::getModificationTime);
  }

  /** The length of a value, which is not got; {@link #ABSENT} or {@link #UNKNOWN}. */
  long length(String path) {
    return look(path, CrailNode::getCapacity);
  }

  private long look(String path, ToLongFunction<CrailNode> wanted) {
    return attempt(
        () -> {
          CrailNode node = await(store.lookup(path));
          return node == null ? ABSENT : wanted.applyAsLong(node);
        },
        (long) UNKNOWN,
        (long) UNKNOWN);
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
