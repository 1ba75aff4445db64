/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * A text that is never shown, or the file that has it in its first line. The file is opened when
 * the text is needed, so that only who needs it has to be able to read it. Immutable.
 */
public final class Secret {
  private static final String FILE = "file:";

  private final String text;

  Secret(String text) {
    this.text = text;
  }

  /** {@return whether there is none} */
  public boolean isEmpty() {
    return text.isEmpty();
  }

  /** {@return whether it is in a file} */
  public boolean isInFile() {
    return text.startsWith(FILE);
  }

  /**
   * Reads the text.
   *
   * @return the text, which is not empty if it is in a file
   * @throws IllegalArgumentException that says why there is none, without the key
   */
  public String read() {
    if (!isInFile()) {
      return text;
    }
    try (BufferedReader lines = Files.newBufferedReader(Path.of(text.substring(FILE.length())))) {
      String line = lines.readLine();
      if (line == null || line.isBlank()) {
        // A user who names a file wants a secret in it.
        throw new IllegalArgumentException("is a file whose first line is empty");
      }
      return line.strip();
    } catch (IOException | InvalidPathException e) {
      throw new IllegalArgumentException("is a file that cannot be read (" + e + ")", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret secret && text.equals(secret.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** What may be shown of it. */
  @Override
  public String toString() {
    return isEmpty() || isInFile() ? text : "(secret)";
  }
}
