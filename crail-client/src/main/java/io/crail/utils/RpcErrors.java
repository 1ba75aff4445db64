/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.utils;

import io.crail.common.error.ErrorCode;
import java.util.Arrays;

/**
 * Numbers and texts of errors under their names in Apache Crail. The texts are Crail's own, so a
 * program that looks for one of them in the message of an exception finds it. An error that Crail
 * does not have stands for a text that is in no message. New programs decide by the type of an
 * exception.
 */
public final class RpcErrors {
  /** No error. */
  public static final short ERR_OK = 0;

  /** A bug. */
  public static final short ERR_UNKNOWN = 1;

  /** Bytes that break the protocol. */
  public static final short ERR_PROTOCOL_MISMATCH = 2;

  /** There is no node at a path. */
  public static final short ERR_GET_FILE_FAILED = 4;

  /** Another client writes to the node. */
  public static final short ERR_TOKEN_TAKEN = 5;

  /** The node was removed or replaced. */
  public static final short ERR_FILE_NOT_OPEN = 6;

  /** The right to write has ended. */
  public static final short ERR_TOKEN_MISMATCH = 7;

  /** There is no space. */
  public static final short ERR_NO_FREE_BLOCKS = 11;

  /** No datanode of that address is registered. */
  public static final short ERR_DATANODE_NOT_REGISTERED = 13;

  /** The parent does not exist. */
  public static final short ERR_PARENT_MISSING = 15;

  /** The parent is no container. */
  public static final short ERR_PARENT_NOT_DIR = 16;

  /** The name is taken. */
  public static final short ERR_FILE_EXISTS = 17;

  /** There is no node at a path. */
  public static final short ERR_FILE_NOT_FOUND = 18;

  /** There is no node at the first path of a rename. */
  public static final short ERR_SRC_FILE_NOT_FOUND = 19;

  /** The parent of the second path of a rename does not exist. */
  public static final short ERR_DST_PARENT_NOT_FOUND = 20;

  /** The container has children. */
  public static final short ERR_HAS_CHILDREN = 21;

  /** The path is too long. */
  public static final short ERR_FILE_COMPONENTS_EXCEEDED = 22;

  /** The name is taken by a directory. */
  public static final short ERR_DIRECTORY_EXISTS = 23;

  /** The node is of another type. */
  public static final short ERR_FILE_IS_NOT_DIR = 25;

  /** The text of each error, by its number. */
  public static final String[] messages = messages();

  private RpcErrors() {}

  private static String[] messages() {
    String[] texts = new String[32];
    Arrays.fill(texts, "(no error of Crail)");
    texts[ERR_OK] = ErrorCode.OK.text();
    texts[ERR_UNKNOWN] = ErrorCode.INTERNAL.text();
    texts[ERR_PROTOCOL_MISMATCH] = ErrorCode.PROTOCOL.text();
    texts[ERR_GET_FILE_FAILED] = ErrorCode.NODE_NOT_FOUND.text();
    texts[ERR_TOKEN_TAKEN] = ErrorCode.WRITE_LEASE_HELD.text();
    texts[ERR_FILE_NOT_OPEN] = ErrorCode.STALE_NODE.text();
    texts[ERR_TOKEN_MISMATCH] = ErrorCode.WRITE_LEASE_LOST.text();
    texts[ERR_NO_FREE_BLOCKS] = ErrorCode.NO_SPACE.text();
    texts[ERR_DATANODE_NOT_REGISTERED] = ErrorCode.UNKNOWN_DATANODE.text();
    texts[ERR_PARENT_MISSING] = ErrorCode.PARENT_NOT_FOUND.text();
    texts[ERR_PARENT_NOT_DIR] = ErrorCode.NOT_A_CONTAINER.text();
    texts[ERR_FILE_EXISTS] = ErrorCode.NODE_EXISTS.text();
    texts[ERR_FILE_NOT_FOUND] = ErrorCode.NODE_NOT_FOUND.text();
    texts[ERR_SRC_FILE_NOT_FOUND] = ErrorCode.NODE_NOT_FOUND.text();
    texts[ERR_DST_PARENT_NOT_FOUND] = ErrorCode.PARENT_NOT_FOUND.text();
    texts[ERR_HAS_CHILDREN] = ErrorCode.NOT_EMPTY.text();
    texts[ERR_FILE_COMPONENTS_EXCEEDED] = ErrorCode.INVALID_PATH.text();
    texts[ERR_DIRECTORY_EXISTS] = ErrorCode.NODE_EXISTS.text();
    texts[ERR_FILE_IS_NOT_DIR] = ErrorCode.WRONG_TYPE.text();
    return texts;
  }
}
