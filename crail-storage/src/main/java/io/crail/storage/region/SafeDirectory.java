/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.OtherUserException;
import io.crail.common.ProcessUser;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A directory in which no other user of the host can exchange this user's files, held open. Its
 * files are opened relative to it, so it does not matter whether another user exchanges the
 * directory, or one above it, in the meantime. A file that is opened is a regular one, belongs to
 * this process's user, has one name only, and is no symbolic link.
 *
 * <p>The order makes the checks safe. First the directory is open, then its owner and rights are
 * looked at, then those of a file in it; and others can change nothing in it. {@code root} is no
 * exception: it opens no directory of another user as its own.
 *
 * <p>Used by one thread at a time.
 */
final class SafeDirectory implements Closeable {
  /** Rights of a directory that is made. */
  static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_RIGHTS =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** Rights of a file that is made. */
  static final Set<PosixFilePermission> FILE_RIGHTS = PosixFilePermissions.fromString("rw-------");

  private static final int TYPE = 0170000;
  private static final int IS_DIRECTORY = 0040000;
  private static final int STICKY = 01000;
  private static final int OTHERS_WRITE = 0022;
  private static final int ROOT = 0;
  private static final int MAX_TEXT = 4096;

  private final Path path;
  private final SecureDirectoryStream<Path> handle;

  /** What the system has at a path; not what a link there leads to. */
  private record Found(int mode, int owner, int names, Object key) {
    static Found at(Path path) throws IOException {
      Map<String, Object> all =
          Files.readAttributes(path, "unix:mode,uid,nlink,fileKey", LinkOption.NOFOLLOW_LINKS);
      return new Found(
          (int) all.get("mode"), (int) all.get("uid"), (int) all.get("nlink"), all.get("fileKey"));
    }

    boolean isDirectory() {
      return (mode & TYPE) == IS_DIRECTORY;
    }

    boolean isMine() {
      return owner == ProcessUser.id();
    }
  }

  private SafeDirectory(Path path, SecureDirectoryStream<Path> handle) {
    this.path = path;
    this.handle = handle;
  }

  /**
   * Opens a directory of this user, in which no other user may write.
   *
   * @throws OtherUserException when it belongs to another user
   * @throws NoSuchFileException when there is none, or not the same one any more
   * @throws IOException that says what is wrong with it
   */
  static SafeDirectory ofUser(Path path) throws IOException {
    Found found = find(path);
    if (!found.isMine()) {
      throw new OtherUserException(path, found.owner());
    }
    if ((found.mode() & OTHERS_WRITE) != 0) {
      throw new IOException(path + " may be changed by other users: chmod go-w " + path);
    }
    return open(path, found.key());
  }

  /**
   * Opens a directory that other users may write to, if none of them can remove or rename what this
   * user has made there.
   *
   * @throws OtherUserException when it belongs to another user than this one or root
   * @throws IOException that says what is wrong with it
   */
  static SafeDirectory shared(Path path) throws IOException {
    // A link is as good as the directory it leads to: that one is looked at.
    Path real = path.toRealPath();
    Found found = find(real);
    if (!found.isMine() && found.owner() != ROOT) {
      throw new OtherUserException(path, found.owner());
    }
    if ((found.mode() & OTHERS_WRITE) != 0 && (found.mode() & STICKY) == 0) {
      throw new IOException(
          "other users may remove files from "
              + path
              + ": chmod +t "
              + path
              + ", or name a directory in it");
    }
    return open(real, found.key());
  }

  private static Found find(Path path) throws IOException {
    Found found;
    try {
      found = Found.at(path);
    } catch (AccessDeniedException e) {
      throw closedBy(path, e);
    }
    if (!found.isDirectory()) {
      throw new NotDirectoryException(path.toString());
    }
    return found;
  }

  /** Names the directory above a path that keeps this user out: the last one that can be seen. */
  private static IOException closedBy(Path path, AccessDeniedException denied) {
    for (Path above = path.getParent(); above != null; above = above.getParent()) {
      try {
        Found found = Found.at(above);
        return found.isMine() ? denied : new OtherUserException(above, found.owner());
      } catch (IOException e) {
        // Perhaps the one above it says more.
      }
    }
    return denied;
  }

  /** Opens what was found at a path, and nothing else. */
  private static SafeDirectory open(Path path, Object key) throws IOException {
    // With the dot the system refuses all but directories. Otherwise a pipe would keep this thread.
    DirectoryStream<Path> stream = Files.newDirectoryStream(path.resolve("."));
    boolean opened = false;
    try {
      if (!(stream instanceof SecureDirectoryStream<Path> handle)) {
        throw new IOException("this system cannot open " + path + " safely");
      }
      BasicFileAttributeView view = handle.getFileAttributeView(BasicFileAttributeView.class);
      if (!view.readAttributes().fileKey().equals(key)) {
        throw new NoSuchFileException(path.toString(), null, "exchanged while it was opened");
      }
      opened = true;
      return new SafeDirectory(path, handle);
    } finally {
      if (!opened) {
        stream.close();
      }
    }
  }

  /** The path by which it was opened. */
  Path path() {
    return path;
  }

  /** Makes a file, which only this user may read and write, and opens it for both. */
  FileChannel create(String name) throws IOException {
    return (FileChannel)
        handle.newByteChannel(
            Path.of(name),
            Set.of(
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS),
            PosixFilePermissions.asFileAttribute(FILE_RIGHTS));
  }

  /** Makes a file with some bytes. */
  void write(String name, byte[] bytes) throws IOException {
    try (FileChannel channel = create(name)) {
      ByteBuffer rest = ByteBuffer.wrap(bytes);
      while (rest.hasRemaining()) {
        channel.write(rest);
      }
    }
  }

  /** Gives a file another name, in place of a file that has it. */
  void rename(String name, String newName) throws IOException {
    handle.move(Path.of(name), handle, Path.of(newName));
  }

  /** Makes the names of the files in it durable. */
  void force() throws IOException {
    try (FileChannel names = FileChannel.open(path, StandardOpenOption.READ)) {
      names.force(true);
    }
  }

  /** A short file as text. */
  String read(String name) throws IOException {
    try (FileChannel channel = open(name, StandardOpenOption.READ)) {
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(channel.size(), MAX_TEXT));
      int count = channel.read(bytes, 0);
      return new String(bytes.array(), 0, Math.max(0, count), StandardCharsets.UTF_8);
    }
  }

  /**
   * Opens a file.
   *
   * @throws NoSuchFileException when there is none
   * @throws IOException that says what is wrong with it
   */
  FileChannel open(String name, StandardOpenOption... options) throws IOException {
    Path file = path.resolve(name);
    BasicFileAttributes seen = attributes(name);
    if (!seen.isRegularFile()) {
      throw new IOException(file + " is no regular file, and is not opened");
    }
    Set<OpenOption> all = new HashSet<>(List.of(options));
    all.add(LinkOption.NOFOLLOW_LINKS);
    SeekableByteChannel channel = handle.newByteChannel(Path.of(name), all);
    boolean checked = false;
    try {
      Found found = Found.at(file);
      if (!found.key().equals(seen.fileKey())) {
        throw new IOException(file + " was exchanged while it was opened");
      }
      if (!found.isMine()) {
        throw new OtherUserException(file, found.owner());
      }
      if (found.names() != 1) {
        throw new IOException(
            file + " has " + found.names() + " names (hard links), and is not opened");
      }
      checked = true;
      return (FileChannel) channel;
    } finally {
      if (!checked) {
        channel.close();
      }
    }
  }

  /** True when there is something of that name. */
  boolean contains(String name) throws IOException {
    try {
      attributes(name);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private BasicFileAttributes attributes(String name) throws IOException {
    return handle
        .getFileAttributeView(
            Path.of(name), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .readAttributes();
  }

  /** The names of what is in it. Called once. */
  List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    try {
      handle.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return names;
  }

  /** Removes a file, if there is one; never what a link leads to. */
  void deleteIfExists(String name) throws IOException {
    try {
      handle.deleteFile(Path.of(name));
    } catch (NoSuchFileException e) {
      // As wanted.
    }
  }

  @Override
  public void close() throws IOException {
    handle.close();
  }
}
