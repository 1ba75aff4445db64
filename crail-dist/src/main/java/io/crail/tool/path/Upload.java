/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.common.Threads;
import io.crail.common.error.CrailException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.protocol.part.NodePath;
import io.crail.tool.command.DecodedText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Copies files of this host to the store. A node gets its name only when it is complete; what an
 * error or an interrupt leaves is removed. Used by one thread.
 */
final class Upload {
  private final PathRun run;
  private final Copier copier;
  private final Placement placement;
  private final boolean recursive;
  private final boolean force;
  private final boolean quiet;

  /**
   * Prepares copies.
   *
   * @param recursive whether directories are copied
   * @param force whether existing files are replaced
   * @param quiet whether to show no progress
   */
  Upload(PathRun run, Placement placement, boolean recursive, boolean force, boolean quiet) {
    this.run = run;
    this.copier = new Copier(run.store());
    this.placement = placement;
    this.recursive = recursive;
    this.force = force;
    this.quiet = quiet;
  }

  /** Copies a file, or a directory with all that is in it. */
  void put(Path source, String target) throws Exception {
    put(source, target, parentType(target));
  }

  /** Copies all bytes of a channel. */
  void put(ReadableByteChannel source, String target) throws Exception {
    CrailNodeType parent = parentType(target);
    checkFree(target);
    copy(source, -1, target, parent);
  }

  private CrailNodeType parentType(String target) throws Exception {
    String above = NodePath.parent(target);
    CrailNode parent = run.store().lookup(above).get();
    if (parent == null) {
      throw new IOException("there is no " + above + "; make it: crail mkdir -p " + above);
    }
    if (!parent.getType().isContainer()) {
      throw new IOException(
          above + " is a " + NodeTypes.word(parent.getType()) + ", and nothing can be put into it");
    }
    return parent.getType();
  }

  private void put(Path source, String target, CrailNodeType parent) throws Exception {
    if (!Files.exists(source)) {
      throw new NoSuchFileException(source.toString());
    }
    if (!Files.isDirectory(source)) {
      checkFree(target);
      long length = Files.isRegularFile(source) ? Files.size(source) : -1;
      try (FileChannel in = length < 0 ? await(source) : open(source)) {
        copy(in, length, target, parent);
      }
    } else if (recursive) {
      tree(source, target);
    } else {
      throw new IOException("is a directory; -r copies all of it");
    }
  }

  private static FileChannel open(Path source) throws IOException {
    return FileChannel.open(source, StandardOpenOption.READ);
  }

  /**
   * Opens a source that may be a pipe with a name, which waits for its writer. An interrupt does
   * not end that, so another thread waits; it ends with the process.
   */
  private static FileChannel await(Path source) throws Exception {
    FutureTask<FileChannel> opening = new FutureTask<>(() -> open(source));
    Threads.daemon("crail-open", opening).start();
    return opening.get();
  }

  /** Refuses a target that exists before any byte is moved; the rename checks it again. */
  private void checkFree(String target) throws Exception {
    CrailNode present = run.store().lookup(target).get();
    if (present != null && (!force || present.getType().isContainer())) {
      throw new IOException(
          target
              + " exists already"
              + (force ? ", as a " + NodeTypes.word(present.getType()) : "; -f replaces it"));
    }
  }

  private void tree(Path source, String target) throws Exception {
    CrailNode present = run.store().lookup(target).get();
    if (present == null) {
      present = placement.create(run.store(), target, CrailNodeType.DIRECTORY);
    } else if (!present.getType().isDirectory()) {
      throw new IOException(target + " exists already, and is no directory");
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(source)) {
      for (Path entry : entries) {
        run.attempt(entry.toString(), () -> entry(entry, target));
      }
    }
  }

  private void entry(Path entry, String container) throws Exception {
    if (Files.isSymbolicLink(entry) && Files.isDirectory(entry)) {
      throw new IOException("is a link to a directory, and was left out");
    }
    if (!Files.isDirectory(entry) && !Files.isRegularFile(entry)) {
      throw new IOException("is neither a file nor a directory, and was left out");
    }
    String name = entry.getFileName().toString();
    if (DecodedText.isDoubtful(name, DecodedText.charset())) {
      throw new IOException(
          "has bytes in its name that are no text here, where Java takes names in "
              + DecodedText.charset()
              + ", and was left out; "
              + PathErrors.OTHER_LOCALE);
    }
    put(entry, PathRun.child(container, name), CrailNodeType.DIRECTORY);
  }

  /**
   * Copies the bytes of a source under a temporary name, then gives them theirs.
   *
   * @param length of the source; below 0 if unknown
   */
  private void copy(ReadableByteChannel source, long length, String target, CrailNodeType parent)
      throws Exception {
    String temporary = run.temporary(target);
    CrailNodeType type = parent.isTable() ? CrailNodeType.KEYVALUE : CrailNodeType.DATAFILE;
    boolean placed = false;
    long before = copier.moved();
    try (AutoCloseable progress =
        run.progress(target, length, quiet, () -> copier.moved() - before)) {
      CrailNode node = placement.create(run.store(), temporary, type);
      write(source, NodeTypes.withBytes(node).getDirectOutputStream(Math.max(0, length)));
      run.store().rename(temporary, target, force).get();
      placed = true;
    } catch (CrailException e) {
      throw named(e, temporary, target);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof CrailException cause ? named(cause, temporary, target) : e;
    } finally {
      if (!placed) {
        remove(temporary);
      }
    }
  }

  /** An error with the name that the user knows. */
  private static CrailException named(CrailException error, String temporary, String target) {
    CrailException renamed = error.code().exception(error.detail().replace(temporary, target));
    renamed.initCause(error);
    return renamed;
  }

  private void write(ReadableByteChannel source, CrailOutputStream out) throws Exception {
    boolean written = false;
    try {
      copier.upload(source, out);
      written = true;
    } finally {
      close(out, written);
    }
  }

  /** Closes a stream; after an error, which says more, without that of the close. */
  private static void close(CrailOutputStream out, boolean written) throws Exception {
    try {
      out.close();
    } catch (CrailException e) {
      if (written) {
        throw e;
      }
    }
  }

  /** Removes what a failed copy has left, also for an interrupted thread. */
  private void remove(String temporary) throws Exception {
    boolean interrupted = Thread.interrupted();
    try {
      run.store().delete(temporary, false).get();
    } catch (ExecutionException e) {
      // It may never have come into being.
      if (!(e.getCause() instanceof NodeNotFoundException)) {
        run.complain(
            temporary,
            "could not be removed ("
                + PathErrors.text(temporary, e.getCause())
                + "); remove it later: crail rm "
                + temporary);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
