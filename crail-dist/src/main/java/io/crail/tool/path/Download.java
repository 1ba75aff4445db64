/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.path;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Copies nodes to this host. A file of this host gets its name only when it is complete; what an
 * error or an interrupt leaves is removed. Used by one thread.
 */
final class Download {
  private static final int READS_AHEAD = 4;
  private static final int MULTIFILE_BUFFER = 1 << 20;

  private final PathRun run;
  private final Copier copier;
  private final boolean recursive;
  private final boolean force;
  private final boolean quiet;
  private byte[] copied = new byte[0];

  /**
   * Prepares copies.
   *
   * @param recursive whether containers are copied, as directories
   * @param force whether existing files are replaced
   * @param quiet whether to show no progress
   */
  Download(PathRun run, boolean recursive, boolean force, boolean quiet) {
    this.run = run;
    this.copier = new Copier(run.store());
    this.recursive = recursive;
    this.force = force;
    this.quiet = quiet;
  }

  /** Copies a node to the standard output. */
  void print(CrailNode node) throws Exception {
    copy(node, this::print);
  }

  private void print(ByteBuffer bytes) {
    int length = bytes.remaining();
    if (copied.length < length) {
      copied = new byte[length];
    }
    bytes.get(copied, 0, length);
    run.write(copied, length);
  }

  /** Copies a node to this path. */
  void get(CrailNode node, Path target) throws Exception {
    if (!node.getType().isContainer()) {
      file(node, target);
    } else if (recursive) {
      tree(node, target);
    } else {
      throw new IOException("is a " + NodeTypes.word(node.getType()) + "; -r copies all of it");
    }
  }

  private void tree(CrailNode container, Path target) throws Exception {
    if (!Files.isDirectory(target)) {
      Files.createDirectory(target);
    }
    Iterator<CrailNode> each = container.asContainer().listStatus();
    while (each.hasNext()) {
      CrailNode child = each.next();
      run.attempt(child.getPath(), () -> get(child, target.resolve(PathRun.name(child.getPath()))));
    }
  }

  private void file(CrailNode node, Path target) throws Exception {
    boolean isFile = Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS);
    if (isFile ? !force : Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileAlreadyExistsException(
          target.toString(), null, "exists already" + (isFile ? "; -f replaces it" : ""));
    }
    Path temporary =
        target.resolveSibling(
            ".crail-get-" + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    try {
      copy(node, temporary, target);
    } catch (FileSystemException e) {
      if (temporary.toString().equals(e.getFile())) {
        // The user has named the target.
        throw new IOException(target + ": " + PathErrors.text(e.getFile(), e), e);
      }
      throw e;
    }
  }

  private void copy(CrailNode node, Path temporary, Path target) throws Exception {
    try {
      try (FileChannel out =
              FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
          AutoCloseable progress = progress(node)) {
        copy(
            node,
            bytes -> {
              while (bytes.hasRemaining()) {
                out.write(bytes);
              }
            });
      }
      name(temporary, target);
    } finally {
      // Nothing is there when it was moved.
      Files.deleteIfExists(temporary);
    }
  }

  /** Gives the complete copy its name, and replaces only what may be replaced. */
  private void name(Path temporary, Path target) throws IOException {
    if (force) {
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
      return;
    }
    try {
      // A move would replace what another program has made meanwhile.
      Files.createLink(target, temporary);
    } catch (FileAlreadyExistsException e) {
      throw new FileAlreadyExistsException(target.toString(), null, "was made meanwhile");
    } catch (UnsupportedOperationException | FileSystemException e) {
      // There are file systems without links.
      Files.move(temporary, target);
    }
  }

  private AutoCloseable progress(CrailNode node) {
    long before = copier.moved();
    return run.progress(node.getPath(), node.getCapacity(), quiet, () -> copier.moved() - before);
  }

  private void copy(CrailNode node, Copier.Sink sink) throws Exception {
    switch (node.getType()) {
      case MULTIFILE -> multifile(node, sink);
      case DATAFILE -> bytes(node.asFile(), sink);
      case KEYVALUE -> {
        CrailKeyValue value = node.asKeyValue();
        if (value.isBeingPut()) {
          throw new IOException("is being put at the moment; try again");
        }
        if (value.isAbandoned()) {
          throw new IOException("has no value, since its put has failed; put it again");
        }
        bytes(value, sink);
      }
      default ->
          throw new IOException(
              "is a " + NodeTypes.word(node.getType()) + "; 'crail ls' shows what is in it");
    }
  }

  private void bytes(CrailFile file, Copier.Sink sink) throws Exception {
    long length = file.getCapacity();
    CrailInputStream in = file.getDirectInputStream(length);
    try {
      copier.download(in, length, sink);
    } finally {
      in.close();
    }
  }

  private void multifile(CrailNode node, Copier.Sink sink) throws Exception {
    ByteBuffer bytes = ByteBuffer.allocateDirect(MULTIFILE_BUFFER);
    try (CrailBufferedInputStream in = node.asMultiFile().getMultiStream(READS_AHEAD)) {
      while (in.read(bytes.clear()) >= 0) {
        sink.write(bytes.flip());
      }
    }
  }
}
