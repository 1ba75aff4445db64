/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import io.crail.client.CountedStores;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.conf.CrailConfiguration;
import java.util.Objects;

/**
 * A client of a Crail cluster. Thread-safe. Several stores may exist in one JVM, with the same or
 * with different configurations; they share nothing, unless {@code crail.singleton} says so.
 */
public abstract class CrailStore implements CrailBufferCache, AutoCloseable {
  /** For implementations. */
  protected CrailStore() {}

  /**
   * Creates a store, which connects with its first operation. With {@code crail.singleton}, the
   * stores of this process that have the same settings share everything, until the last of them is
   * closed.
   *
   * @param configuration the settings; the store takes a copy
   * @return the store
   * @throws Exception a {@code ConfigException} that names the bad key
   */
  public static CrailStore newInstance(CrailConfiguration configuration) throws Exception {
    Objects.requireNonNull(configuration, "configuration");
    return CountedStores.open(configuration.toConfiguration());
  }

  /**
   * Creates a node. In a table, an existing key is replaced.
   *
   * @param path the components, separated by slashes; the first slash may be missing
   * @param type the type
   * @param storageClass the tier for its bytes, unless they stay at the namenode, and for children
   *     that take the parent's class
   * @param locationClass the host for its bytes, unless they stay at the namenode, and for children
   *     that take the parent's class
   * @param enumerable whether listings of the parent show the node
   * @return the node; the operation fails with a typed error such as {@code NodeExistsException},
   *     {@code ParentNotFoundException} or {@code WrongTypeException}, or with a {@code
   *     LimitExceededException} of code {@code QUOTA_EXCEEDED} when a directory above has no room
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   */
  public abstract Upcoming<CrailNode> create(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable)
      throws Exception;

  /**
   * Creates a node as {@link #create(String, CrailNodeType, CrailStorageClass, CrailLocationClass,
   * boolean)} does. With {@code replace}, the new node may take the place of an existing data file.
   * A reader finds either the old node or the new one. Streams on the old node fail with a {@code
   * StaleNodeException}, at the latest when their lease is renewed next.
   *
   * @param path the components, separated by slashes; the first slash may be missing
   * @param type the type
   * @param storageClass the tier for its bytes, unless they stay at the namenode, and for children
   *     that take the parent's class
   * @param locationClass the host for its bytes, unless they stay at the namenode, and for children
   *     that take the parent's class
   * @param enumerable whether listings of the parent show the node
   * @param replace whether a data file takes the place of an existing data file; an existing
   *     container is never replaced, but fails the operation with a {@code NodeExistsException}
   * @param permissions twelve permission bits; the method without this argument uses {@link
   *     CrailAttributes#FILE_PERMISSIONS} and {@link CrailAttributes#CONTAINER_PERMISSIONS}
   * @return the node
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   */
  public abstract Upcoming<CrailNode> create(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable,
      boolean replace,
      int permissions)
      throws Exception;

  /**
   * Creates a directory or a table whose children are spread over all namenodes, by a hash of their
   * names. It can hold more children than one namenode has memory for, and all namenodes work for
   * it. If a name has a part in braces, as {@code job{17}.log}, only that part counts: names with
   * the same part are at one namenode, and can be renamed to each other.
   *
   * <p>A rename from one namenode to another is refused, and so is one of the directory itself or
   * of a directory above it. A spread directory is not in another one. Removal, recursive or not,
   * is one step for all readers, as it is elsewhere.
   *
   * @param path the path
   * @param type {@link CrailNodeType#DIRECTORY} or {@link CrailNodeType#TABLE}
   * @param storageClass the tier for children that take the parent's class
   * @param locationClass the host for children that take the parent's class
   * @param enumerable whether listings of the parent show the node
   * @return the node; the operation fails as {@code create} does, and with an {@code
   *     UnavailableException} when a namenode does not answer
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   */
  public abstract Upcoming<CrailNode> createSpread(
      String path,
      CrailNodeType type,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable)
      throws Exception;

  /**
   * Finds a node.
   *
   * @param path the path
   * @return the node; null when there is no node at that path
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> lookup(String path) throws Exception;

  /**
   * Puts a whole value under a key of a table. The value has the storage class and location class
   * of the table, and listings show it.
   *
   * @param path the table and the key
   * @param value the bytes between its position and its limit
   * @return the key-value
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   * @see #put(String, CrailBuffer, CrailStorageClass, CrailLocationClass, boolean)
   */
  public final Upcoming<CrailKeyValue> put(String path, CrailBuffer value) throws Exception {
    return put(path, value, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true);
  }

  /**
   * Puts a whole value under a key of a table, and replaces an existing value. A reader finds the
   * old value until all bytes of the new one are there, and then the new one. When the put fails,
   * or its program ends in the middle, the old value stays. A small value ({@code
   * crail.namenode.smallvalue}) takes one request.
   *
   * <p>Many puts may be in flight. On one key, the last one wins.
   *
   * <p>The new value needs room beside the old one. Without it, the put fails with a {@code
   * NoSpaceException}. A program that needs the room of the old value deletes it first.
   *
   * <p>A put that fails with an {@code UnavailableException} may have taken place. The program may
   * put the value again.
   *
   * @param path the table and the key
   * @param value the bytes between its position and its limit; its position moves to the limit;
   *     direct memory, which must not change until the put has ended
   * @param storageClass the tier for its bytes, unless they stay at the namenode
   * @param locationClass the host for its bytes, unless they stay at the namenode
   * @param enumerable whether listings of the table show it
   * @return the key-value; the operation fails with a typed error as for {@code create}; a {@code
   *     StaleNodeException} means that a later put, or a delete, came before a large value was
   *     written
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   */
  public abstract Upcoming<CrailKeyValue> put(
      String path,
      CrailBuffer value,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass,
      boolean enumerable)
      throws Exception;

  /**
   * Gets the whole value of a key. This means the same as to look the key up and to read it, but
   * takes fewer requests: a small value takes one. The bytes are always of one value, never parts
   * of two. While a value is put under a new key, the operation waits, and fails with a {@code
   * CrailTimeoutException} at its deadline. A new key whose put failed before any byte had arrived
   * does not exist. The operation fails with a {@code StaleNodeException} when a large value is
   * replaced again and again, faster than it can be read. Many gets may be in flight.
   *
   * @param path the table and the key
   * @param target direct memory, for the operation alone until it has ended; the bytes are written
   *     from its position on, and the position stays; after an error the content is undefined
   * @return the number of bytes of the value; null when there is no such key; the operation fails
   *     with an {@code InvalidArgumentException} when the value does not fit, and with a {@code
   *     WrongTypeException} for a node that is no key-value
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailResult> get(String path, CrailBuffer target) throws Exception;

  /**
   * Performs a list of guards, changes and reads on one node: all of it at once, or nothing. The
   * result says how each step ended; a guard that does not hold is no error of the operation. Many
   * operations may be in flight. The list is performed at most once, also when a connection breaks
   * meanwhile; after an {@code UnavailableException} or a {@code CrailTimeoutException} it is not
   * known whether it was.
   *
   * @param path the path of the node, which need not exist
   * @param operation the steps
   * @return what the steps gave; the operation fails with a {@code ParentNotFoundException}, with a
   *     {@code WrongTypeException} when a key-value would be made in a directory or a container
   *     removed, and with a {@code NoSpaceException} or a {@code LimitExceededException} when the
   *     namenode has no memory for the bytes or the attributes, or a quota no room
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   */
  public abstract Upcoming<CompoundResult> operate(String path, CompoundOperation operation)
      throws Exception;

  /**
   * Stages bytes for a key. They have its storage class and location class, or those of its table
   * if there is no such key.
   *
   * @param path the table and the key, which need not exist
   * @param bytes the bytes between its position and its limit
   * @return the bytes, to be named by lists of steps
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   * @see #stage(String, CrailBuffer, CrailStorageClass, CrailLocationClass)
   */
  public final Upcoming<StagedBytes> stage(String path, CrailBuffer bytes) throws Exception {
    return stage(path, bytes, CrailStorageClass.PARENT, CrailLocationClass.PARENT);
  }

  /**
   * Writes bytes to datanodes, where no reader sees them until a list of steps links them to a key:
   * {@link CompoundOperation.Builder#writeFull(StagedBytes)} and {@link
   * CompoundOperation.Builder#append(StagedBytes)}. So guards decide about values of any length.
   * Staged bytes count towards a quota like those of a key. Many may be staged for one key.
   *
   * @param path the table and the key, which need not exist
   * @param bytes the bytes between its position and its limit, at least one; its position moves to
   *     the limit; direct memory, which must not change until the operation has ended
   * @param storageClass the tier for the bytes
   * @param locationClass the host for the bytes
   * @return the bytes, to be closed; the operation fails with a typed error as for {@code put}
   * @throws Exception an {@code InvalidPathException} or {@code InvalidArgumentException}
   */
  public abstract Upcoming<StagedBytes> stage(
      String path,
      CrailBuffer bytes,
      CrailStorageClass storageClass,
      CrailLocationClass locationClass)
      throws Exception;

  /**
   * Moves the bytes of a key-value from the namenode to datanodes, so that {@link
   * CompoundOperation.Builder#append(StagedBytes)} can add to them, and the namenode has memory for
   * others. It is a list of steps: the key keeps its version, epoch and attributes, and gets
   * another id. From then on steps that append, write, read or compare plain bytes fail with
   * NOT_KEPT, so this is not for keys of queues or logs. Waits for the network.
   *
   * @param path the table and the key
   * @return whether bytes were moved; false when none are at the namenode
   * @throws Exception a {@code NodeNotFoundException}; a {@code WrongTypeException} for what is no
   *     key-value; a {@code WriteLeaseHeldException} while a stream writes to the key; a {@code
   *     ConditionFailedException} when others change its bytes all the time, or put it; a {@code
   *     NoSpaceException}, or a {@code LimitExceededException} of a quota
   */
  public abstract boolean settle(String path) throws Exception;

  /**
   * Gives a node another path. Every reader sees this as one step.
   *
   * @param source the present path
   * @param target the new path
   * @return the node under its new path; the operation fails with a {@code NodeNotFoundException}
   *     for a missing source, a {@code NodeExistsException} for an existing target, and a {@code
   *     CrossNamenodeException} for a target at another namenode
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> rename(String source, String target) throws Exception;

  /**
   * Gives a node another path as {@link #rename(String, String)} does. With {@code replace}, the
   * node may take the place of the target, and every reader sees this as one step.
   *
   * @param source the present path
   * @param target the new path
   * @param replace whether a node with bytes may replace one with bytes, and a container an empty
   *     container of its type
   * @return the node under its new path; the operation fails with a {@code NotEmptyException} for a
   *     target with children, and with a {@code NodeExistsException} for a target of another kind
   *     and for the node itself
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> rename(String source, String target, boolean replace)
      throws Exception;

  /**
   * Sets owner, group, permission bits and times of a node. Crail does not enforce them. For the
   * root they are set at every namenode.
   *
   * @param path the path
   * @param changes the attributes to set
   * @return the node with its new attributes; the operation fails with a {@code
   *     NodeNotFoundException} for a missing node
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes)
      throws Exception;

  /**
   * Removes a node. Afterwards this store ends its open output streams on the node and below it;
   * they fail with a {@code StaleNodeException}. A delete that fails leaves the streams alone.
   *
   * @param path the path
   * @param recursive whether a container is removed with all its children
   * @return the removed node; the operation fails with a {@code NodeNotFoundException} for a
   *     missing node, and with a {@code NotEmptyException} for a container with children
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> delete(String path, boolean recursive) throws Exception;

  /**
   * Lends a buffer of {@code crail.buffersize} bytes.
   *
   * @throws Exception a {@code LimitExceededException} when {@code crail.cachelimit} is reached
   */
  @Override
  public abstract CrailBuffer allocateBuffer() throws Exception;

  /**
   * {@return the most bytes of a file that lie in one piece: the cluster's block size} Asks the
   * namenodes when none has been asked for anything yet.
   *
   * @throws Exception when no namenode answers
   */
  public abstract long getBlockSize() throws Exception;

  /** {@return the bytes of each buffer that {@link #allocateBuffer} lends} */
  public abstract int getBufferSize();

  /** {@return the bytes that a buffered stream moves at a time} */
  public abstract int getSliceSize();

  /**
   * Asks all namenodes at the same time how much space there is. The result names the namenodes
   * that do not answer within the deadline of an operation.
   *
   * @return the space
   * @throws Exception when no namenode answers
   */
  public abstract CrailSpace getSpace() throws Exception;

  /** {@return the counters} */
  public abstract CrailStatistics getStatistics();

  /** {@return the location class of this host} */
  public abstract CrailLocationClass getLocationClass();

  /**
   * Ends the open streams, fails outstanding operations with a {@code ClosedException}, and ends
   * all threads of this store. Memory of datanodes is unmapped at once, and the memory of the
   * buffers is given back. A buffer that is still lent stays valid until it is given back. Memory
   * that the program may still reach by a {@code ByteBuffer}, an address, a region or a slice of a
   * buffer stays until the collector finds that it does not. With {@code crail.singleton} this
   * happens when all stores that share them are closed. To close a store again has no effect.
   *
   * @throws Exception an {@code IllegalStateException} when a callback of this store calls it
   */
  @Override
  public void close() throws Exception {}
}
