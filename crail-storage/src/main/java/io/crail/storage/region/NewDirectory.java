/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.ByteText;
import io.crail.common.OtherUserException;
import io.crail.common.ProcessUser;
import io.crail.protocol.part.Extent;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Makes a datanode's directory, where that is safe and there is room. Stateless. */
final class NewDirectory {
  private static final long CREATE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private NewDirectory() {}

  /**
   * Makes the directory, with its parent. Another datanode that ends removes the parent if it is
   * empty, so this may need more than one try. Once the directory exists, the parent stays. What is
   * missing above the parent may be a disk that is not mounted, and is an error.
   */
  static void make(Path path) throws IOException {
    Path parent = path.getParent();
    Path above = parent.getParent();
    if (above != null && Files.notExists(above)) {
      throw new IOException(
          "cannot create the data path "
              + parent
              + ": there is no directory "
              + above
              + "; mount or make it first");
    }
    long start = System.nanoTime();
    while (true) {
      try {
        boolean made = makeIfAbsent(parent);
        if (!made) {
          SafeDirectory.shared(parent).close();
        }
        Files.createDirectory(path, SafeDirectory.DIRECTORY_RIGHTS);
        if (made) {
          checkParentOf(path);
        }
        return;
      } catch (NoSuchFileException e) {
        // A link that leads nowhere does so the next time, too.
        if (Files.isSymbolicLink(parent) || System.nanoTime() - start > CREATE_NANOS) {
          throw refused(parent, e.toString(), e);
        }
      } catch (AccessDeniedException e) {
        throw refused(
            parent,
            "user "
                + ProcessUser.idText()
                + " may not make "
                + e.getFile()
                + "; change the rights of the directory above, or name another data path (-d)",
            e);
      } catch (OtherUserException e) {
        throw refused(parent, e.getMessage() + "; name another data path (-d)", e);
      } catch (FileSystemException e) {
        throw refused(parent, e.toString(), e);
      } catch (IOException e) {
        throw refused(parent, e.getMessage(), e);
      }
    }
  }

  private static boolean makeIfAbsent(Path parent) throws IOException {
    try {
      Files.createDirectory(parent, SafeDirectory.DIRECTORY_RIGHTS);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  /**
   * Looks at a parent that was just made, once it can no longer be removed. Looking first would
   * leave more time to remove it, and another user could still make it in between.
   */
  private static void checkParentOf(Path path) throws IOException {
    boolean safe = false;
    try {
      SafeDirectory.shared(path.getParent()).close();
      safe = true;
    } finally {
      if (!safe) {
        Files.deleteIfExists(path);
      }
    }
  }

  private static IOException refused(Path dataPath, String why, IOException cause) {
    return new IOException("cannot use the data path " + dataPath + ": " + why, cause);
  }

  /** Refuses regions for which there is no room below a directory. */
  static void checkSpace(Path parent, List<Integer> lengths, boolean withData) throws IOException {
    long needed = 0;
    for (int length : lengths) {
      needed += (withData ? (long) length : 0) + GenerationTable.lengthFor(length);
      needed += RegionFile.grownLengthFor(length);
    }
    needed += HazardTable.LENGTH + Extent.MIN_LENGTH;
    long available = FreeSpace.bytes(parent);
    if (available < needed) {
      throw new IOException(
          "the data path "
              + parent
              + " has "
              + ByteText.of(available)
              + " free, needed are "
              + ByteText.of(needed));
    }
  }
}
