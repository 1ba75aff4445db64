/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/** What the steps of a compound operation do, with their permanent numbers. */
public enum StepKind {
  /** Guard: there is a node. */
  EXISTS(0, "exists"),
  /** Guard: there is no node. */
  ABSENT(1, "does not exist"),
  /** Guard: compares the node's id. */
  ID(2, "id"),
  /** Guard: compares the version. */
  VERSION(3, "version"),
  /** Guard: compares the epoch. */
  EPOCH(4, "epoch"),
  /** Guard: compares the number of bytes. */
  SIZE(5, "size"),
  /** Guard: there is an attribute. */
  HAS_ATTRIBUTE(6, "has attribute"),
  /** Guard: there is no such attribute. */
  LACKS_ATTRIBUTE(7, "lacks attribute"),
  /** Guard: compares an attribute as bytes. */
  ATTRIBUTE(8, "attribute"),
  /** Guard: compares an attribute as a number. */
  ATTRIBUTE_NUMBER(9, "attribute as a number"),
  /** Guard: compares bytes of the node. */
  BYTES(10, "bytes"),
  /** Makes the node, a key-value; there must be none. */
  CREATE(16, "create"),
  /** Adds bytes at the end. */
  APPEND(17, "append"),
  /** Writes bytes at a position; what is missing before it becomes 0. */
  WRITE(18, "write"),
  /** Replaces all bytes. */
  WRITE_FULL(19, "write full"),
  /** Sets the number of bytes; what is added is 0. */
  TRUNCATE(20, "truncate"),
  /** Sets an attribute. */
  SET_ATTRIBUTE(21, "set attribute"),
  /** Adds to an attribute that is a number; a missing one is 0. */
  ADD(22, "add to attribute"),
  /** Removes an attribute; it need not be there. */
  REMOVE_ATTRIBUTE(23, "remove attribute"),
  /** Sets an attribute that has a certain value. */
  REPLACE_ATTRIBUTE(24, "replace attribute"),
  /** Raises the epoch above the present one. */
  RAISE_EPOCH(25, "raise epoch"),
  /** Removes the node. */
  DELETE(26, "delete"),
  /** Performs what a method of the namenode decides. */
  CALL(27, "call"),
  /** Sets how long the node lives from now on. */
  EXPIRE(28, "expire"),
  /** Sets how long each node lives that will be made in this container. */
  EXPIRE_CHILDREN(29, "expire children"),
  /**
   * Sets the limits of a directory: the number is that of bytes, and the data that of names, as 8
   * bytes, the lowest first.
   */
  LIMIT(30, "limit"),
  /**
   * Links {@link StagedBytes}: the number is their id, and the data their token and length, each as
   * 8 bytes, the lowest first. The length is 0 if they replace all bytes, 1 if they are added at
   * the end, or 2 if they replace the same bytes, so that the version stays.
   */
  LINK(31, "link"),
  /** Reads the number of bytes. */
  READ_SIZE(32, "read size"),
  /** Reads all attributes. */
  READ_ATTRIBUTES(33, "read attributes"),
  /** Reads an attribute. */
  READ_ATTRIBUTE(34, "read attribute"),
  /** Reads bytes, as many as there are in the range. */
  READ_BYTES(35, "read bytes"),
  /** Reads how long the node will live if it is not accessed. */
  READ_LIFETIME(36, "read lifetime"),
  /** Reads the limits of a directory and what it uses; the data is a {@link DirectoryUsage}. */
  READ_USAGE(37, "read usage"),
  /** Reads how long each node lives that will be made in this container. */
  READ_CHILDREN_LIFETIME(38, "read lifetime of children");

  private static final int FIRST_CHANGE = 16;
  private static final int FIRST_READ = 32;

  private static final StepKind[] BY_NUMBER = new StepKind[64];

  static {
    for (StepKind kind : values()) {
      BY_NUMBER[kind.number] = kind;
    }
  }

  private final int number;
  private final String text;

  StepKind(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** {@return the permanent number} */
  public int number() {
    return number;
  }

  /** {@return whether such a step only lets the list go on, or ends it} */
  public boolean isGuard() {
    return number < FIRST_CHANGE;
  }

  /** {@return whether such a step changes something} */
  public boolean isChange() {
    return number >= FIRST_CHANGE && number < FIRST_READ;
  }

  /**
   * The kind of a number.
   *
   * @param number the permanent number
   * @return the kind
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} when there is none
   */
  public static StepKind of(int number) throws CrailException {
    StepKind kind = number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    if (kind == null) {
      throw ErrorCode.INVALID_ARGUMENT.exception("step of kind " + number);
    }
    return kind;
  }

  /** {@return a name for messages} */
  @Override
  public String toString() {
    return text;
  }
}
