/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

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

  /** Control characters that the user has written, in a format. */
  private volatile String written = "";

  PrintableStream(PrintStream target) {
    super(target);
    this.target = target;
  }

  /**
   * Escapes a text, which may include the end of its line. A text that ends in a zero is for
   * programs.
   */
  private String escape(String text) {
    if (text.endsWith("\0")) {
      return text;
    }
    return text.endsWith("\n") ? line(text.substring(0, text.length() - 1)) + "\n" : line(text);
  }

  private String line(String text) {
    if (written.isEmpty()) {
      return Printable.line(text);
    }
    StringBuilder escaped = new StringBuilder();
    for (char letter : text.toCharArray()) {
      String one = String.valueOf(letter);
      escaped.append(written.indexOf(letter) >= 0 ? one : Printable.line(one));
    }
    return escaped.toString();
  }

  /** Lets the control characters of a format pass, since its author means them. */
  void allow(String format) {
    written = Printable.controlsOf(format);
  }

  @Override
  public void print(String text) {
    target.print(escape(String.valueOf(text)));
  }

  @Override
  public void println(String line) {
    target.println(line(String.valueOf(line)));
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
    return format(Locale.ROOT, format, arguments);
  }

  @Override
  public PrintStream format(Locale locale, String format, Object... arguments) {
    // The tabs and lines of a format are meant so; names are arguments.
    Object[] printable = new Object[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      boolean isNumber = arguments[i] instanceof Number || arguments[i] instanceof Character;
      printable[i] = isNumber ? arguments[i] : Printable.line(String.valueOf(arguments[i]));
    }
    target.print(String.format(locale, format, printable));
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
