/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The user of the operating system that this process acts as. Stateless. */
public final class ProcessUser {
  /** What {@link #id} gives on a system without numbers of users. */
  public static final int UNKNOWN = -1;

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String IDS = "Uid:";

  /** Nothing changes it while a JVM runs. */
  private static final int ID = find();

  private ProcessUser() {}

  /** The effective user id, an unsigned number. Files that this process makes belong to it. */
  public static int id() {
    return ID;
  }

  /** That number as text. */
  public static String idText() {
    return Integer.toUnsignedString(ID);
  }

  /** The user's name; the number if the user has none, as in many containers. */
  public static String name() {
    // Java gives a question mark to all users without a name, who are different users.
    String name = System.getProperty("user.name", "?");
    return name.equals("?") || name.isEmpty() ? idText() : name;
  }

  private static int find() {
    try {
      return effective(Files.readString(STATUS));
    } catch (IOException | IllegalArgumentException e) {
      // Not Linux, or a changed root without this directory.
      return ownerOfNewFile();
    }
  }

  /** The second of the four numbers: real, effective, saved, and that of the file system. */
  private static int effective(String status) {
    return status
        .lines()
        .filter(line -> line.startsWith(IDS))
        .map(line -> Integer.parseUnsignedInt(line.substring(IDS.length()).trim().split("\\s+")[1]))
        .findFirst()
        .orElseThrow(IllegalArgumentException::new);
  }

  private static int ownerOfNewFile() {
    try {
      Path file = Files.createTempFile("crail-user", null);
      try {
        return (int) Files.getAttribute(file, "unix:uid");
      } finally {
        Files.delete(file);
      }
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return UNKNOWN;
    }
  }
}
