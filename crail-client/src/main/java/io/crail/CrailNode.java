/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A handle of a node: the state of the node at the time when the store answered. Thread-safe.
 *
 * <p>A handle that came {@linkplain Upcoming#early() early} waits for the answer in the first
 * method that needs it. If that method declares no exception, an error comes as {@link
 * java.io.UncheckedIOException}, with the typed exception as its cause.
 */
public interface CrailNode {
  /** {@return the store} */
  CrailStore getFileSystem();

  /** {@return the path that the node had when the handle was made} */
  String getPath();

  /**
   * Waits until the node is listed in its parent. The namenode lists a node from its creation on.
   * So this method waits only for a handle that came early.
   *
   * @return this
   * @throws Exception the error of the create
   */
  CrailNode syncDir() throws Exception;

  /**
   * {@return the time of the last change of bytes or children, as this handle knows it, in
   * milliseconds since 1970}
   */
  long getModificationTime();

  /**
   * Returns the size of a file as this handle knows it: the bytes that were visible when the handle
   * was made or {@linkplain #refresh() refreshed}, and the bytes that its own streams have written
   * since.
   *
   * @return bytes; 0 for a container
   */
  long getCapacity();

  /**
   * Returns owner, group, permission bits and times as they were when this handle was made. Asks
   * the namenode for the names of users that this store does not know yet.
   *
   * @return the attributes
   * @throws Exception the error of the create, or an error of the namenode
   */
  CrailAttributes getAttributes() throws Exception;

  /** {@return the type} */
  CrailNodeType getType();

  /**
   * Asks the store for the present state of the node. The open input streams of a file handle see
   * the new size, so a reader can follow a file that grows.
   *
   * @return this
   * @throws Exception a {@code StaleNodeException} when the node was removed or replaced
   */
  CrailNode refresh() throws Exception;

  /**
   * {@return this as a data file}
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailFile asFile() throws Exception;

  /**
   * {@return this as a directory, multi-file or table}
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailContainer asContainer() throws Exception;

  /**
   * {@return this as a directory}
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailDirectory asDirectory() throws Exception;

  /**
   * {@return this as a multi-file}
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailMultiFile asMultiFile() throws Exception;

  /**
   * {@return this as a table}
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailTable asTable() throws Exception;

  /**
   * {@return this as a key-value}
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailKeyValue asKeyValue() throws Exception;

  /**
   * Returns the places of a range of the bytes.
   *
   * @param start position of the first byte
   * @param length bytes
   * @return the places in the order of the file; empty for a container, and for a range after the
   *     end
   * @throws Exception an error of the namenode
   */
  CrailBlockLocation[] getBlockLocations(long start, long length) throws Exception;
}
