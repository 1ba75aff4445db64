/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.ByteSequence;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;

/**
 * A path as it travels to the namenode of a child of a spread directory. Only the directory's owner
 * has the way to it, so the path names the directory by its id, too:
 *
 * <pre>
 *   0  u8   0, which no text of a {@link NodePath} begins with
 *   1  i64  id of the spread directory
 *   9  u16  bytes of the text that lead to the directory
 *  11       the text of the whole path
 * </pre>
 *
 * <p>The text may also end with the directory itself, in a lookup of one namenode's share. All
 * other paths travel as their text.
 */
public final class SpreadPath {
  /** Bytes before the text. */
  public static final int HEADER_LENGTH = 11;

  /** The most bytes of a path as it travels. */
  public static final int MAX_LENGTH = HEADER_LENGTH + NodePath.MAX_LENGTH;

  /** What is said of a path in the layout of a message. */
  public static final String MEANING = "the path, in the form of NodePath or SpreadPath";

  private static final int ID = 1;
  private static final int PREFIX = 9;

  private SpreadPath() {}

  /**
   * The path of a spread directory, or of a node below it.
   *
   * @param id the id of the directory
   * @param prefix bytes of the text that lead to the directory
   */
  public static Utf8 of(long id, int prefix, Utf8 text) {
    byte[] bytes = new byte[HEADER_LENGTH + text.length()];
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[ID + i] = (byte) (id >>> i * Byte.SIZE);
    }
    bytes[PREFIX] = (byte) prefix;
    bytes[PREFIX + 1] = (byte) (prefix >>> Byte.SIZE);
    text.copyTo(bytes, HEADER_LENGTH);
    return Utf8.ofGiven(bytes);
  }

  /** True when a path begins at a spread directory, as far as its first byte says. */
  public static boolean isFromSpread(ByteSequence path) {
    return path.length() > 0 && path.byteAt(0) == 0;
  }

  /** The text of a path in either form. */
  public static Utf8 text(Utf8 path) {
    return isFromSpread(path) && path.length() >= HEADER_LENGTH
        ? Utf8.copyOf(path.toByteArray(), HEADER_LENGTH, path.length() - HEADER_LENGTH)
        : path;
  }

  /**
   * Where the component begins that decides which namenode owns the path; the length of the path or
   * more when there is none.
   */
  static int childStart(ByteSequence path) {
    if (!isFromSpread(path)) {
      return 1;
    }
    if (path.length() < HEADER_LENGTH) {
      return path.length();
    }
    int prefix = path.byteAt(PREFIX) & 0xff | (path.byteAt(PREFIX + 1) & 0xff) << Byte.SIZE;
    return HEADER_LENGTH + prefix + 1;
  }

  /** True for a path that ends with the spread directory that it begins at: for one share of it. */
  public static boolean isDirectory(Utf8 path) {
    return isFromSpread(path) && childStart(path) > path.length();
  }

  /** The id of the spread directory in the header of a path at {@code offset}. */
  public static long id(ByteBuffer in, int offset) {
    return in.getLong(offset + ID);
  }

  /** The bytes of the text that lead to the spread directory. */
  public static int prefix(ByteBuffer in, int offset) {
    return in.getShort(offset + PREFIX) & 0xffff;
  }

  /**
   * Checks the header of a path that came from the network, but not its text.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_PATH}
   */
  public static void check(ByteBuffer in, int offset, int length) throws CrailException {
    if (!isGood(in, offset, length)) {
      throw ErrorCode.INVALID_PATH.exception("path does not lead through its spread directory");
    }
  }

  /** Whether a header names a directory, and the text goes through it or ends with it. */
  public static boolean isGood(ByteBuffer in, int offset, int length) {
    int text = length - HEADER_LENGTH;
    if (text < 2 || id(in, offset) == 0) {
      return false;
    }
    int prefix = prefix(in, offset);
    return prefix >= 2
        && (prefix == text || prefix < text && in.get(offset + HEADER_LENGTH + prefix) == '/');
  }
}
