/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import java.io.IOException;

/**
 * The standard output takes nothing any more. It ends a command, which says nothing of it: the
 * launcher does. Unchecked, since {@link java.io.PrintStream} lets nothing else through.
 */
public final class OutputFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OutputFailedException(IOException cause) {
    super("the output cannot be written", cause);
  }
}
