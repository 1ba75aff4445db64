/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the kernel says about this host in files. Nothing is reported about what it does not say.
 */
final class HostFiles {
  /** A limit that is none, or that the kernel does not say. */
  static final long NONE = Long.MAX_VALUE;

  private static final int MOST_BYTES = 1 << 16;
  private static final Pattern LIMIT = Pattern.compile("(?m)^(.+?) {2,}(\\S+) +(\\S+) +\\S+ *$");
  private static final Pattern CHOSEN = Pattern.compile("\\[(\\w+)\\]");

  private final Path root;

  /**
   * Creates it.
   *
   * @param root {@code /}, except in tests
   */
  HostFiles(Path root) {
    this.root = root;
  }

  /** The hard limit of this process that the kernel lists by that name, up to which Java goes. */
  long limit(String name) {
    Matcher matcher = LIMIT.matcher(read("proc/self/limits"));
    while (matcher.find()) {
      if (matcher.group(1).equals(name)) {
        return parse(matcher.group(3), NONE);
      }
    }
    return NONE;
  }

  /** A number that is alone in its file. */
  long number(String file, long absent) {
    return parse(read(file).strip(), absent);
  }

  /** The word in brackets, as in {@code always [madvise] never}; empty if there is none. */
  String chosen(String file) {
    Matcher matcher = CHOSEN.matcher(read(file));
    return matcher.find() ? matcher.group(1) : "";
  }

  /** A line of /proc/meminfo: a number, or bytes. */
  long memory(String name, long absent) {
    Matcher matcher =
        Pattern.compile("(?m)^" + Pattern.quote(name) + ": *(\\d+)( kB)?$")
            .matcher(read("proc/meminfo"));
    if (!matcher.find()) {
      return absent;
    }
    long value = parse(matcher.group(1), absent);
    return matcher.group(2) == null ? value : value * 1024;
  }

  private String read(String file) {
    try (InputStream in = Files.newInputStream(root.resolve(file))) {
      // In one read: a number under /proc/sys ends after the first, however short that was.
      return new String(in.readNBytes(MOST_BYTES), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      return "";
    }
  }

  private static long parse(String text, long absent) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      return absent;
    }
  }
}
