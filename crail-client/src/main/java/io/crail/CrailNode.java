/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A handle of a node: what the store knew of it when it answered. Thread-safe.
 *
 * <p>A handle that came {@linkplain Upcoming#early() early} waits for the answer in its first
 * method that needs it. Where such a method declares no exception, an error comes as {@link
 * java.io.UncheckedIOException} with the typed exception as its cause.
 */
public interface CrailNode {
  /** The store. */
  CrailStore getFileSystem();

  /** The path that the node had when the handle was made. */
  String getPath();

  /**
   * Waits until the node is listed in its parent. The namenode lists it from its creation on, so
   * this only waits for the answer of a handle that came early.
   *
   * @throws Exception the error of the create
   */
  CrailNode syncDir() throws Exception;

  /** When bytes or children changed last as this handle knows it, milliseconds since 1970. */
  long getModificationTime();

  /**
   * Bytes of a file as this handle knows them: those visible when the handle was made or
   * {@linkplain #refresh() refreshed}, and those that its own streams have written since. 0 for a
   * container.
   */
  long getCapacity();

  /**
   * Owner, group, permission bits and times that the node had when this handle was made. Asks the
   * namenode for names that this store has not met.
   *
   * @throws Exception the error of the create, or as the namenode answers
   */
  CrailAttributes getAttributes() throws Exception;

  /** The type. */
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
   * This as a data file.
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailFile asFile() throws Exception;

  /**
   * This as a directory, multi-file or table.
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailContainer asContainer() throws Exception;

  /**
   * This as a directory.
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailDirectory asDirectory() throws Exception;

  /**
   * This as a multi-file.
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailMultiFile asMultiFile() throws Exception;

  /**
   * This as a table.
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailTable asTable() throws Exception;

  /**
   * This as a key-value.
   *
   * @throws Exception a {@code WrongTypeException} for another type
   */
  CrailKeyValue asKeyValue() throws Exception;

  /**
   * Where a range of the bytes lies; empty for a container and for a range after the end.
   *
   * @param start first byte
   * @param length bytes
   * @throws Exception as the namenode answers
   */
  CrailBlockLocation[] getBlockLocations(long start, long length) throws Exception;
}
