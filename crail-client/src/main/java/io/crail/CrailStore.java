/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import io.crail.client.CoreStore;
import io.crail.conf.CrailConfiguration;
import java.util.Objects;

/**
 * A client of a Crail cluster. Thread-safe. Several stores, with the same or different
 * configurations, live in one JVM without knowing of each other.
 */
public abstract class CrailStore implements CrailBufferCache, AutoCloseable {
  /** For implementations. */
  protected CrailStore() {}

  /**
   * Creates a store. Nothing is connected before the first operation. Every call makes a store of
   * its own.
   *
   * @throws Exception a {@code ConfigException} that names the key that cannot be used
   */
  public static CrailStore newInstance(CrailConfiguration configuration) throws Exception {
    Objects.requireNonNull(configuration, "configuration");
    return CoreStore.create(configuration.toConfiguration());
  }

  /**
   * Creates a node. In a table, an existing key is replaced.
   *
   * @param path the parts are separated by slashes; the first slash may be missing
   * @param type the type
   * @param storageClass the tier of its bytes, and of its children's that take the parent's
   * @param locationClass the host of its bytes, and of its children's that take the parent's
   * @param enumerable whether listings of the parent show it
   * @return the node; typed errors as {@code NodeExistsException}, {@code ParentNotFoundException},
   *     {@code WrongTypeException} end it
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
   * Creates a node as the other one does, and if {@code replace} says so in the place of a node
   * with bytes that is there: whoever looks finds the old one or the new one. Streams on the old
   * one fail with a {@code StaleNodeException} by the next renewal of their lease.
   *
   * @param replace whether a data file takes the place of one; nothing takes that of a container,
   *     which is a {@code NodeExistsException}
   * @param permissions twelve permission bits; the other one takes those of {@link
   *     CrailAttributes#FILE_PERMISSIONS} and {@link CrailAttributes#CONTAINER_PERMISSIONS}
   * @return the node
   * @throws Exception as the other one
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
   * Finds a node.
   *
   * @return the node, or null when there is none of that path
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> lookup(String path) throws Exception;

  /**
   * Puts a whole value under a key of a table, in the place of the one that is there, with storage
   * and location class of the table, to be listed.
   *
   * @see #put(String, CrailBuffer, CrailStorageClass, CrailLocationClass, boolean)
   */
  public final Upcoming<CrailKeyValue> put(String path, CrailBuffer value) throws Exception {
    return put(path, value, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true);
  }

  /**
   * Puts a whole value under a key of a table, in the place of the one that is there. Same as to
   * create the key-value, write the bytes and close the stream, in fewer requests: a small value
   * ({@code crail.namenode.smallvalue}) takes one, and whoever looks then finds the old value or
   * the new one. A larger one of up to a block may do so as well, where its space is on this host,
   * when values of about its length are put into the table one after the other: its space then came
   * with the put before ({@code crail.client.spaceahead}). Nobody may rely on that. Any other one
   * takes the place of the old one first, and its bytes can be read when this has ended. Many may
   * be under way; of those on one key the last wins.
   *
   * <p>The old value stays until there is room for the new one beside it: a put that fails with a
   * {@code NoSpaceException} for want of that has done nothing. Of a value of more than 64 blocks
   * ({@code crail.blocksize}) that is true for the first 64 extents. When the bytes of a larger
   * value cannot be written, because a datanode has gone for example, the old one is gone as well.
   *
   * <p>A put whose answer is lost with its connection fails with an {@code UnavailableException}:
   * it may have taken place. It may be put again.
   *
   * @param path the table and the key
   * @param value the bytes from its position, which moves after them, to its limit; direct memory,
   *     to be left alone until this has ended
   * @param storageClass the tier of its bytes, if they do not stay with the namenode
   * @param locationClass the host of its bytes
   * @param enumerable whether listings of the table show it
   * @return the key-value; typed errors as for {@code create} end it, a {@code StaleNodeException}
   *     says that a later put, or a delete, has come before a large value was written
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
   * Gets the whole value of a key. Same as to look it up and to read it, in fewer requests: a small
   * value takes one. What comes is one value, never parts of two. One that is being put is waited
   * for, with a {@code CrailTimeoutException} in the end; where its put has failed before any byte
   * was there, there is no key. A large one that is replaced again and again, faster than it can be
   * read from here, ends it with a {@code StaleNodeException}. Many may be under way.
   *
   * @param path the table and the key
   * @param target direct memory, to be left alone until this has ended; the bytes come to lie from
   *     its position on, which stays where it is; what is there after an error is not said
   * @return how many bytes the value has, or null when there is no such key; an {@code
   *     InvalidArgumentException} when they do not fit, a {@code WrongTypeException} for a node
   *     that is no key-value
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailResult> get(String path, CrailBuffer target) throws Exception;

  /**
   * Gives a node another path, atomically for every reader.
   *
   * @return the node under its new path; a missing source is a {@code NodeNotFoundException}, a
   *     taken target a {@code NodeExistsException}, a target at another namenode a {@code
   *     CrossNamenodeException}
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> rename(String source, String target) throws Exception;

  /**
   * Gives a node another path as the other one does, and if {@code replace} says so in the place of
   * what is there, in the same moment for every reader.
   *
   * @param replace whether a node with bytes takes the place of one, and a container that of an
   *     empty one of its type
   * @return the node under its new path; a target with children is a {@code NotEmptyException}, one
   *     of another kind, and the node itself, a {@code NodeExistsException}
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> rename(String source, String target, boolean replace)
      throws Exception;

  /**
   * Sets owner, group, permission bits and times of a node. Nothing is enforced by them. That of
   * the root is done at every namenode.
   *
   * @return the node as it is then; a missing one is a {@code NodeNotFoundException}
   * @throws Exception an {@code InvalidPathException}
   */
  public abstract Upcoming<CrailNode> setAttributes(String path, CrailAttributeChanges changes)
      throws Exception;

  /**
   * Removes a node. Output streams that this store has open on it, or below it, are ended when it
   * is gone, and fail with a {@code StaleNodeException}; a delete that fails leaves them alone.
   *
   * @param recursive whether a container with children is removed with all of them
   * @return the removed node; a missing one is a {@code NodeNotFoundException}, a container with
   *     children a {@code NotEmptyException}
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
   * Takes a lent buffer back.
   *
   * @throws Exception an {@code IllegalArgumentException} for a buffer that was not lent by this
   *     store, is a slice of one, or was given back before
   */
  @Override
  public abstract void freeBuffer(CrailBuffer buffer) throws Exception;

  /**
   * Asks all namenodes how much space there is, at the same time. Those that do not answer within
   * the deadline of an operation are named in the result.
   *
   * @throws Exception when none of them answers
   */
  public abstract CrailSpace getSpace() throws Exception;

  /** The counters. */
  public abstract CrailStatistics getStatistics();

  /** The location class of this host. */
  public abstract CrailLocationClass getLocationClass();

  /**
   * Ends the open streams, fails outstanding operations with a {@code ClosedException}, and ends
   * all threads of this store.
   */
  @Override
  public void close() throws Exception {}
}
