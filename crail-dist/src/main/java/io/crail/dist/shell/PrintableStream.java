/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.shell;

import io.crail.common.Printable;
import java.io.PrintStream;
import java.util.Locale;

/**
 * Writes text with its control characters as escapes, so that a name in it cannot begin a new line
 * or control a terminal. Text that is printed as one line stays one line. Bytes pass unchanged,
 * since they are file contents. Thread-safe.
 */
final class PrintableStream extends PrintStream {
  private final PrintStream target;

  PrintableStream(PrintStream target) {
    super(target);
    this.target = target;
  }

  /**
   * Escapes a text, which may include the end of its line. A text that ends in a zero is for
   * programs.
   */
  private static String escape(String text) {
    if (text.endsWith("\0")) {
      return text;
    }
    return text.endsWith("\n")
        ? Printable.line(text.substring(0, text.length() - 1)) + "\n"
        : Printable.line(text);
  }

  @Override
  public void print(String text) {
    target.print(escape(String.valueOf(text)));
  }

  @Override
  public void println(String line) {
    target.println(Printable.line(String.valueOf(line)));
  }

  @Override
  public void println() {
    target.println();
  }

  @Override
  public void print(Object value) {
    print(String.valueOf(value));
  }

  @Override
  public void println(Object value) {
    println(String.valueOf(value));
  }

  @Override
  public void print(char[] text) {
    print(String.valueOf(text));
  }

  @Override
  public void println(char[] text) {
    println(String.valueOf(text));
  }

  @Override
  public PrintStream format(String format, Object... arguments) {
    print(String.format(format, arguments));
    return this;
  }

  @Override
  public PrintStream format(Locale locale, String format, Object... arguments) {
    print(String.format(locale, format, arguments));
    return this;
  }

  @Override
  public PrintStream append(CharSequence text) {
    print(String.valueOf(text));
    return this;
  }

  @Override
  public boolean checkError() {
    return target.checkError();
  }
}
