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
   * Asks all namenodes how much space there is.
   *
   * @throws Exception when one of them does not answer
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
