/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.ByteSequence;
import io.crail.common.LostText;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * The rules of a path, and the form in which it travels: UTF-8, a slash before each component, none
 * at the end; the root is a single slash. A component has 1 to {@value #MAX_COMPONENT_LENGTH} bytes
 * and is neither "." nor ".."; a path has at most {@value #MAX_LENGTH} bytes. No path has the
 * character U+FFFD: a program gets it in place of bytes that it could not decode, so different
 * names would become one.
 */
public final class NodePath {
  /** The most bytes of a path. */
  public static final int MAX_LENGTH = 1024;

  /** The most bytes of a component. */
  public static final int MAX_COMPONENT_LENGTH = 255;

  /** The root. */
  public static final Utf8 ROOT = Utf8.of("/");

  private static final byte SLASH = '/';
  private static final long LOW_BITS = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long QUESTION_MARKS = 0x3f3f3f3f3f3f3f3fL;
  private static final long SLASH_TO_QUESTION_MARK = 0x1010101010101010L;
  private static final long ORDINARY = 0x6161616161616161L;
  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private NodePath() {}

  /**
   * Converts a path as a user writes it into the form of the wire. Adds a missing leading slash,
   * and drops doubled and trailing slashes.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_PATH} that names path and rule
   */
  public static Utf8 parse(String path) throws CrailException {
    Utf8 plain = parsePlain(path);
    return plain != null ? plain : parseAnyForm(path);
  }

  /**
   * Returns an ASCII path that already has the form of the wire, as nearly all have; its text is
   * the same in both forms. Returns null for any other path, valid or not.
   */
  public static Utf8 parsePlain(String path) {
    Utf8 asWritten = Utf8.of(path);
    return isPlain(asWritten) ? asWritten : null;
  }

  /**
   * True for an ASCII path that already has the form of the wire, as nearly all have. Also false
   * for some valid paths, such as those with a question mark: half a surrogate pair is encoded as a
   * question mark.
   */
  private static boolean isPlain(Utf8 path) {
    int length = path.length();
    if (length < 2 || length > MAX_LENGTH || path.byteAt(0) != SLASH) {
      return false;
    }
    int start = 1;
    int i = 1;
    while (i < length) {
      // Eight bytes at a time, as long as none of them is special.
      long special = special(word(path, i, length));
      if (special == 0) {
        i += Long.BYTES;
        continue;
      }
      i += Long.numberOfTrailingZeros(special) / Byte.SIZE;
      if (path.byteAt(i) != SLASH || !isPlainComponent(path, start, i)) {
        return false;
      }
      i++;
      start = i;
    }
    return isPlainComponent(path, start, length);
  }

  /** The eight bytes from {@code i} on, with ordinary ones for those after the end. */
  private static long word(Utf8 path, int i, int length) {
    int left = length - i;
    if (left >= Long.BYTES) {
      return path.wordAt(i);
    }
    if (length >= Long.BYTES) {
      return path.wordAt(length - Long.BYTES) >>> (Long.SIZE - left * Byte.SIZE)
          | ORDINARY << (left * Byte.SIZE);
    }
    long word = ORDINARY;
    for (int j = length - 1; j >= i; j--) {
      word = word << Byte.SIZE | path.byteAt(j) & 0xff;
    }
    return word;
  }

  /** Has the high bit of the first byte that is a slash, a question mark, 0 or not ASCII. */
  private static long special(long word) {
    // Slash and question mark differ in one bit.
    long either = (word | SLASH_TO_QUESTION_MARK) ^ QUESTION_MARKS;
    return ((either - LOW_BITS) & ~either | (word - LOW_BITS) & ~word | word) & HIGH_BITS;
  }

  private static boolean isPlainComponent(Utf8 path, int start, int end) {
    return end > start && end - start <= MAX_COMPONENT_LENGTH && path.byteAt(start) != '.';
  }

  private static Utf8 parseAnyForm(String path) throws CrailException {
    byte[] in = encode(path);
    byte[] out = new byte[in.length + 1];
    int length = 0;
    int i = 0;
    while (i < in.length) {
      while (i < in.length && in[i] == SLASH) {
        i++;
      }
      int start = i;
      while (i < in.length && in[i] != SLASH) {
        i++;
      }
      if (i > start) {
        out[length++] = SLASH;
        System.arraycopy(in, start, out, length, i - start);
        length += i - start;
      }
    }
    if (length == 0) {
      return ROOT;
    }
    String broken = brokenRule(ByteBuffer.wrap(out), 0, length);
    if (broken != null) {
      throw ErrorCode.INVALID_PATH.exception(broken + ": " + shorten(path));
    }
    return Utf8.copyOf(out, 0, length);
  }

  /**
   * Checks a path that came from the network.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_PATH} that names the rule
   */
  public static void check(ByteBuffer buffer, int offset, int length) throws CrailException {
    String broken = brokenRule(buffer, offset, length);
    if (broken != null) {
      throw ErrorCode.INVALID_PATH.exception(broken);
    }
  }

  private static String brokenRule(ByteBuffer buffer, int offset, int length) {
    if (length < 1 || buffer.get(offset) != SLASH) {
      return "path does not begin with a slash";
    }
    if (length > MAX_LENGTH) {
      return "path has more than " + MAX_LENGTH + " bytes";
    }
    if (length == 1) {
      return null;
    }
    int start = offset + 1;
    int end = offset + length;
    boolean ascii = true;
    for (int i = start; i <= end; i++) {
      byte value = i < end ? buffer.get(i) : SLASH;
      if (value == SLASH) {
        int componentLength = i - start;
        if (componentLength == 0) {
          return "path has an empty component";
        }
        if (componentLength > MAX_COMPONENT_LENGTH) {
          return "path has a component of more than " + MAX_COMPONENT_LENGTH + " bytes";
        }
        if (buffer.get(start) == '.'
            && (componentLength == 1 || (componentLength == 2 && buffer.get(start + 1) == '.'))) {
          return "path has a component '.' or '..'";
        }
        start = i + 1;
      } else if (value == 0) {
        return "path has a zero byte";
      } else if (value < 0) {
        ascii = false;
      }
    }
    return ascii ? null : brokenText(buffer, offset, length);
  }

  private static String brokenText(ByteBuffer buffer, int offset, int length) {
    byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    try {
      CharBuffer text =
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(bytes));
      return LostText.isIn(text)
          ? "path was no UTF-8 when the program got it, and has replacement characters; "
              + LostText.CURE
          : null;
    } catch (CharacterCodingException e) {
      return "path is not UTF-8";
    }
  }

  private static byte[] encode(String path) throws CrailException {
    try {
      ByteBuffer bytes =
          StandardCharsets.UTF_8
              .newEncoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .encode(CharBuffer.wrap(path));
      byte[] array = new byte[bytes.remaining()];
      bytes.get(array);
      return array;
    } catch (CharacterCodingException e) {
      throw ErrorCode.INVALID_PATH.exception("path has half a surrogate pair");
    }
  }

  private static String shorten(String path) {
    return path.length() <= 80 ? path : path.substring(0, 77) + "...";
  }

  /**
   * The namenode that owns a path: a stable hash of its first component, so that a whole top-level
   * subtree lives on one namenode. For a path that begins at a spread directory, see {@link
   * SpreadPath}, it is the first component below that directory. If the component has a part in
   * braces, as {@code job{17}.log}, only that part counts, so that names can be kept together.
   * Requests for the root go to namenode 0.
   */
  public static int namenodeOf(ByteSequence path, int namenodeCount) {
    int start = SpreadPath.childStart(path);
    if (namenodeCount == 1 || start >= path.length()) {
      return 0;
    }
    long whole = FNV_BASIS;
    long part = FNV_BASIS;
    int opened = -1;
    for (int i = start; i < path.length() && path.byteAt(i) != SLASH; i++) {
      byte next = path.byteAt(i);
      whole = hashed(whole, next);
      if (opened < 0) {
        opened = next == '{' ? i : -1;
      } else if (next != '}') {
        part = hashed(part, next);
      } else if (i > opened + 1) {
        return ownerOf(part, namenodeCount);
      } else {
        // Nothing is in the braces, so they have no meaning.
        opened = Integer.MAX_VALUE - 1;
      }
    }
    return ownerOf(whole, namenodeCount);
  }

  private static long hashed(long hash, byte next) {
    return (hash ^ (next & 0xff)) * FNV_PRIME;
  }

  private static int ownerOf(long hash, int namenodeCount) {
    return (int) Long.remainderUnsigned(hash ^ hash >>> 32, namenodeCount);
  }

  /** The path of {@code name} in {@code container}. */
  public static String child(String container, String name) {
    return container.endsWith("/") ? container + name : container + "/" + name;
  }

  /** The last component, empty for the root. */
  public static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /**
   * The path above, normalized; the root for the root.
   *
   * @throws CrailException when it is no path
   */
  public static String parent(String path) throws CrailException {
    String whole = parse(path).toString();
    return whole.substring(0, Math.max(1, whole.lastIndexOf('/')));
  }
}
