/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.error;

import java.util.function.BiFunction;

/**
 * What can go wrong, as permanent numbers. A number is never given to another meaning; a new error
 * takes the next free one. {@link #OK} is no error.
 */
public enum ErrorCode {
  /** No error. */
  OK(0, "no error"),
  /** A bug: the server logged it with its cause. */
  INTERNAL(1, "internal error"),
  /** Bytes that break the protocol: lengths, versions, unknown opcodes, a missing handshake. */
  PROTOCOL(2, "protocol error"),
  /** A request that no state of the store could satisfy: an argument out of its range. */
  INVALID_ARGUMENT(3, "invalid argument", InvalidArgumentException::new),
  /** The path breaks a rule: empty or too long component, too long, a "." or "..". */
  INVALID_PATH(4, "invalid path", InvalidPathException::new),
  /** Nothing of that name. */
  NODE_NOT_FOUND(5, "no such node", NodeNotFoundException::new),
  /** The name is taken. */
  NODE_EXISTS(6, "node exists", NodeExistsException::new),
  /** The parent does not exist. */
  PARENT_NOT_FOUND(7, "parent does not exist", ParentNotFoundException::new),
  /** The parent, or a middle component, is not a container. */
  NOT_A_CONTAINER(8, "not a container", NotAContainerException::new),
  /** The parent's type does not hold children of this type. */
  WRONG_TYPE(9, "wrong node type", WrongTypeException::new),
  /** The container has children and the removal was not recursive. */
  NOT_EMPTY(10, "container is not empty", NotEmptyException::new),
  /** The node was removed or replaced since the handle was made. */
  STALE_NODE(11, "node was removed or replaced", StaleNodeException::new),
  /** Somebody else writes to the node. */
  WRITE_LEASE_HELD(12, "another client writes to the node", WriteLeaseHeldException::new),
  /** The writer's lease ended, or was never given. */
  WRITE_LEASE_LOST(13, "write lease is lost", WriteLeaseLostException::new),
  /** No free space in the storage classes that the node may use. */
  NO_SPACE(14, "no space", NoSpaceException::new),
  /** No datanode of that identity is registered. */
  UNKNOWN_DATANODE(15, "unknown datanode"),
  /** A rename over the border between two namenodes. */
  CROSS_NAMENODE(16, "rename across namenodes", CrossNamenodeException::new),
  /** A rename of a container into its own subtree. */
  CYCLE(17, "container cannot move into itself", CycleException::new),
  /** A position after the end, or a size below the present one. */
  OUT_OF_RANGE(18, "position out of range", OutOfRangeException::new),
  /** The request went to a namenode that does not own the name or id. */
  WRONG_NAMENODE(19, "wrong namenode"),
  /** The extent was given to another node since its location was handed out. */
  STALE_EXTENT(20, "extent location is stale"),
  /** A node that cannot be reached: refused, unresolved, or the connection was lost. */
  UNAVAILABLE(21, "not reachable", UnavailableException::new),
  /** The deadline passed; whether the operation took place is not known. */
  TIMED_OUT(22, "timed out", CrailTimeoutException::new),
  /** The store, stream or endpoint was closed. */
  CLOSED(23, "closed", ClosedException::new),
  /** A limit of the server or the client was reached: connections, requests, memory. */
  LIMIT_EXCEEDED(24, "limit exceeded", LimitExceededException::new),
  /** The root cannot be created, removed or renamed. */
  ROOT(25, "not possible on the root"),
  /** The datanode lost the data, for it was restarted since they were written. */
  DATA_LOST(26, "data is lost", DataLostException::new),
  /** The operation is known but not served by this peer. */
  UNSUPPORTED(27, "not supported"),
  /** Another datanode is alive at that address; it may be gone soon. */
  ADDRESS_TAKEN(28, "address is taken"),
  /** An earlier writer, which stands still, may still write to this space: take other space. */
  SPACE_PINNED(29, "an earlier writer may still write to this space");

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

  /** The permanent number. */
  public int number() {
    return number;
  }

  /** The fixed text, the same in every message with this code. */
  public String text() {
    return text;
  }

  /**
   * The exception for this code: of its own type where a program may want to react to it.
   *
   * @param detail what it happened to (path, node id, address), may be empty
   */
  public CrailException exception(String detail) {
    return factory.apply(this, detail);
  }

  /** The code of a number; an unknown number, from a newer peer, counts as {@link #INTERNAL}. */
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
