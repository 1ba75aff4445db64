/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.common.LostText;
import io.crail.common.error.CrailException;
import io.crail.protocol.part.NodePath;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;

/** What to say about an error, and what to do about it, in one line. Stateless. */
final class PathErrors {
  /** What to do where the character set of this host has no such name. */
  static final String OTHER_LOCALE = "rename it; or if it is UTF-8, " + LostText.CURE;

  private PathErrors() {}

  /** The text for an error that a path had; the path itself stands in front of it already. */
  static String text(String path, Throwable error) throws CrailException {
    if (error instanceof CrailException crail) {
      return ofStore(path, crail);
    }
    if (error instanceof FileSystemException local) {
      String place = path.equals(local.getFile()) ? "" : local.getFile() + ": ";
      return place + ofHost(local);
    }
    if (error instanceof InvalidPathException name) {
      return "this host cannot have that name (" + name.getReason() + "); " + OTHER_LOCALE;
    }
    boolean speaks = error.getClass() == IOException.class && error.getMessage() != null;
    return speaks ? error.getMessage() : error + " (--verbose shows where)";
  }

  private static String ofHost(FileSystemException error) {
    if (error instanceof NoSuchFileException) {
      return "there is no such file or directory on this host";
    }
    if (error instanceof AccessDeniedException) {
      return "this user may not read or write it";
    }
    return error.getReason() == null ? error.toString() : error.getReason();
  }

  private static String ofStore(String path, CrailException error) throws CrailException {
    switch (error.code()) {
      case NODE_NOT_FOUND:
        return "there is no such node";
      case PARENT_NOT_FOUND:
        return "its parent does not exist; make it: crail mkdir -p " + NodePath.parent(path);
      case NODE_EXISTS:
        return "exists already";
      case NO_SPACE:
        return error.getMessage() + "; 'crail df' shows what is free";
      case QUOTA_EXCEEDED:
        return error.getMessage() + "; 'crail quota' shows limits, and sets others";
      case UNAVAILABLE:
      case TIMED_OUT:
        return error.getMessage() + "; 'crail ping' and 'crail datanodes' show who answers";
      case DATA_LOST:
        return error.getMessage() + "; compute it again, 'crail rm' removes what is left";
      case CROSS_NAMENODE:
        return "cannot move to another namenode, which the first name of a path chooses, or the name in"
            + " a spread directory; copy it (crail get, crail put) and remove it";
      case ROOT:
        return "the root always exists, and stays where it is";
      default:
        String detail = error.detail();
        return detail.isEmpty() || detail.equals(path) ? error.code().text() : error.getMessage();
    }
  }
}
