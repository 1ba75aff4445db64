/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import org.apache.hadoop.fs.Path;

/**
 * The paths in Crail of what belongs to one source: a table of status, a table of blocks, and a
 * directory of claims. Immutable.
 *
 * <p>The name of a file's status begins with a hash of each directory above the file, and ends with
 * a hash of the whole path. So the names are spread over all namenodes, and all of a directory are
 * found by a listing, when the directory is renamed or removed.
 */
final class CacheNames {
  /** Letters of a directory in the name of a status. */
  private static final int DIRECTORY_LETTERS = 5;

  /** Directories in a name, which has at most 255 bytes; deeper ones share that of the last. */
  private static final int MOST_DIRECTORIES = 46;

  /** Letters of a hash that stands for all it was made of: 132 bits. */
  private static final int WHOLE_LETTERS = 22;

  private static final int MOST_AUTHORITY = 200;

  private static final char[] LETTERS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".toCharArray();

  private final String root;
  private final String place;

  /**
   * Creates it.
   *
   * @param root the directory of all caches
   * @param source the name of the source's directory
   * @param place the URI of the source. The same path at another place is another file, also if the
   *     name of the source is given to that place
   */
  CacheNames(String root, String source, String place) {
    this.root = root + "/" + source;
    this.place = place;
  }

  /** The name of a source that has none: made of its URI, as no name of a configuration is. */
  static String sourceOf(URI uri) {
    String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
    String encoded = URLEncoder.encode(authority, StandardCharsets.UTF_8);
    return uri.getScheme() + "=" + (encoded.length() <= MOST_AUTHORITY ? encoded : digest(encoded));
  }

  String root() {
    return root;
  }

  String statuses() {
    return root + "/status";
  }

  String blocks() {
    return root + "/blocks";
  }

  String claims() {
    return root + "/claims";
  }

  /** The status of a file. */
  String status(Path file) {
    String path = file.toUri().getPath();
    StringBuilder name = new StringBuilder(statuses()).append('/');
    int end = path.lastIndexOf('/');
    appendDirectories(name, end <= 0 ? "" : path.substring(0, end));
    return name.append('.').append(digest(place + "\0" + path)).toString();
  }

  /** What the names of the status of all files below a directory begin with. */
  String statusesBelow(Path directory) {
    String path = directory.toUri().getPath();
    StringBuilder name = new StringBuilder();
    appendDirectories(name, path.equals("/") ? "" : path);
    return name.toString();
  }

  /** A block of a file whose content has this identity. */
  String block(String identity, long index) {
    return blocks() + "/" + identity + "-" + index;
  }

  /** A claim to load a value; there are others if those who had it have not come back. */
  String claim(String value, int number) {
    return claims() + value.substring(value.lastIndexOf('/')) + "-" + number;
  }

  /** What is claimed by who removes blocks. */
  String eviction() {
    return root + "/eviction";
  }

  /** What is claimed by who removes what is too old. */
  String tidying() {
    return root + "/tidying";
  }

  /** A node that was made when this was done. */
  String tidied() {
    return root + "/tidied";
  }

  private static void appendDirectories(StringBuilder name, String path) {
    int directories = 0;
    int at = 0;
    while (at < path.length() && directories < MOST_DIRECTORIES) {
      int end = path.indexOf('/', at + 1);
      end = end < 0 ? path.length() : end;
      appendHash(name, path, at + 1, end);
      directories++;
      at = end;
    }
  }

  /** A weak hash will do: two directories with the same one are only invalidated together. */
  private static void appendHash(StringBuilder name, String path, int from, int to) {
    long hash = 0xcbf29ce484222325L;
    for (int i = from; i < to; i++) {
      hash = (hash ^ path.charAt(i)) * 0x100000001b3L;
    }
    hash ^= hash >>> 32;
    for (int i = 0; i < DIRECTORY_LETTERS; i++) {
      name.append(LETTERS[(int) (hash & 63)]);
      hash >>>= 6;
    }
  }

  /** A hash that no two texts have in common. */
  static String digest(String text) {
    try {
      byte[] all =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      String letters =
          Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(all, 18));
      return letters.substring(0, WHOLE_LETTERS);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has it", e);
    }
  }
}
