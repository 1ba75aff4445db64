/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import java.util.function.BiFunction;

/**
 * Everything that can go wrong, as permanent numbers. A number never gets another meaning; a new
 * error takes the next free number. {@link #OK} is no error.
 */
public enum ErrorCode {
  /** No error. */
  OK(0, "no error"),
  /** A bug. The server has logged it with its cause. */
  INTERNAL(1, "internal error"),
  /** Bytes that break the protocol: lengths, versions, unknown opcodes, a missing handshake. */
  PROTOCOL(2, "protocol error"),
  /** A request that no state of the store could satisfy, such as an argument out of its range. */
  INVALID_ARGUMENT(3, "invalid argument", InvalidArgumentException::new),
  /** The path breaks a rule: it is too long, or a component is empty, too long, "." or "..". */
  INVALID_PATH(4, "invalid path", InvalidPathException::new),
  /** There is no node of that name. */
  NODE_NOT_FOUND(5, "no such node", NodeNotFoundException::new),
  /** The name is taken. */
  NODE_EXISTS(6, "node exists", NodeExistsException::new),
  /** The parent does not exist. */
  PARENT_NOT_FOUND(7, "parent does not exist", ParentNotFoundException::new),
  /** The parent, or a middle component, is not a container. */
  NOT_A_CONTAINER(8, "not a container", NotAContainerException::new),
  /** The parent's type does not allow children of this type. */
  WRONG_TYPE(9, "wrong node type", WrongTypeException::new),
  /** The container has children, and the removal was not recursive. */
  NOT_EMPTY(10, "container is not empty", NotEmptyException::new),
  /** The node was removed or replaced after the handle was made. */
  STALE_NODE(11, "node was removed or replaced", StaleNodeException::new),
  /** Another stream writes to the node, or may have bytes on their way. */
  WRITE_LEASE_HELD(12, "write lease is held", WriteLeaseHeldException::new),
  /** The writer's lease has ended, or was never granted. */
  WRITE_LEASE_LOST(13, "write lease is lost", WriteLeaseLostException::new),
  /** There is no free space in the storage classes that the node may use. */
  NO_SPACE(14, "no space", NoSpaceException::new),
  /** No datanode with that identity is registered. */
  UNKNOWN_DATANODE(15, "unknown datanode"),
  /** A rename from one namenode to another. */
  CROSS_NAMENODE(16, "rename across namenodes", CrossNamenodeException::new),
  /** A rename of a container into its own subtree. */
  CYCLE(17, "container cannot move into itself", CycleException::new),
  /** A position after the end, or a size below the present one. */
  OUT_OF_RANGE(18, "position out of range", OutOfRangeException::new),
  /** The request went to a namenode that does not own the name or id. */
  WRONG_NAMENODE(19, "wrong namenode"),
  /** The extent was given to another node after its location was handed out. */
  STALE_EXTENT(20, "extent location is stale"),
  /**
   * A namenode or datanode that cannot be reached: the connection was refused or lost, or the
   * address is unresolved.
   */
  UNAVAILABLE(21, "not reachable", UnavailableException::new),
  /** The deadline has passed. It is unknown whether the operation took place. */
  TIMED_OUT(22, "timed out", CrailTimeoutException::new),
  /** The store, stream or endpoint was closed. */
  CLOSED(23, "closed", ClosedException::new),
  /** A limit of the server or the client was reached, such as connections, requests or memory. */
  LIMIT_EXCEEDED(24, "limit exceeded", LimitExceededException::new),
  /** The root cannot be created, removed or renamed. */
  ROOT(25, "not possible on the root"),
  /** The datanode has lost the data, since it was restarted after they were written. */
  DATA_LOST(26, "data is lost", DataLostException::new),
  /** This peer knows the operation but does not serve it. */
  UNSUPPORTED(27, "not supported"),
  /** Another datanode is alive at that address. It may be gone soon. */
  ADDRESS_TAKEN(28, "address is taken"),
  /** An earlier writer is stopped and may still write to this space. Other space is needed. */
  SPACE_PINNED(29, "an earlier writer may still write to this space"),
  /**
   * There is no free space yet, but some is known to come. A client asks again, and turns this into
   * {@link #NO_SPACE} when its patience is over.
   */
  SPACE_TO_COME(30, "no space yet"),
  /**
   * The path goes through a spread directory, and the child belongs to another namenode. The detail
   * is a {@code SpreadHint}. A client asks that namenode, and its user does not see this.
   */
  SPREAD(31, "spread over namenodes"),
  /**
   * The namenode has no share of that spread directory, since the directory was removed, or the
   * namenode was started again and gets its share soon. The detail is as with {@link #SPREAD}.
   */
  NO_SHARE(32, "no share of the spread directory"),
  /** A spread directory, or one above it, is being removed. A client asks again after a pause. */
  BEING_REMOVED(33, "is being removed"),
  /** A guard of a compound operation does not hold. */
  CONDITION_FAILED(34, "condition does not hold", ConditionFailedException::new),
  /**
   * A step of a compound operation concerns bytes that the namenode does not keep, or would not
   * keep afterwards, since there are too many.
   */
  NOT_KEPT(35, "bytes are not kept by the namenode"),
  /**
   * A directory would have more bytes or names than its quota allows. Nothing was changed, and
   * waiting does not help: something below the directory has to be removed, or its quota raised.
   */
  QUOTA_EXCEEDED(36, "quota exceeded", LimitExceededException::new),
  /** A peer of a namenode that does not serve now. A client asks the others. */
  STANDBY(37, "standby", UnavailableException::new),
  /** The login of a connection was refused, or is no longer good. */
  UNAUTHENTICATED(38, "login refused"),
  /** The caller may not do this. Nothing was changed. */
  ACCESS_DENIED(39, "access denied");

  private static final ErrorCode[] BY_NUMBER = byNumber();

  private final int number;
  private final String text;
  private final BiFunction<ErrorCode, String, CrailException> factory;

  /** A code that no program reacts to by type. */
  ErrorCode(int number, String text) {
    this(number, text, CrailException::new);
  }

  ErrorCode(int number, String text, BiFunction<ErrorCode, String, CrailException> factory) {
    this.number = number;
    this.text = text;
    this.factory = factory;
  }

  /** {@return the permanent number} */
  public int number() {
    return number;
  }

  /** {@return the fixed text, the same in every message with this code} */
  public String text() {
    return text;
  }

  /**
   * Creates the exception for this code, with its own type where a program may want to react to it.
   *
   * @param detail what it happened to (path, node id, address); may be empty
   * @return the exception
   */
  public CrailException exception(String detail) {
    return factory.apply(this, detail);
  }

  /**
   * Returns the code of a number. A newer peer may send an unknown number, which counts as {@link
   * #INTERNAL}.
   *
   * @param number the permanent number
   * @return the code
   */
  public static ErrorCode of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : INTERNAL;
  }

  private static ErrorCode[] byNumber() {
    ErrorCode[] codes = values();
    for (int i = 0; i < codes.length; i++) {
      if (codes[i].number != i) {
        throw new AssertionError("error numbers must be dense and in order: " + codes[i]);
      }
    }
    return codes;
  }
}
