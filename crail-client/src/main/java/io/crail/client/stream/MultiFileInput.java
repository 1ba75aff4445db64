/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A buffered stream over all files of a multi-file. Reads of the next files are issued while an
 * earlier file is consumed, each with the request for its location. The listing has the size and
 * the id of each file, so no read waits for a lookup.
 */
public final class MultiFileInput extends SlicedInput {
  private final String path;
  private final Files files;
  private final int outstanding;

  /** Streams that have a slice ahead, or from which more will be read. */
  private final Set<DirectInput> open = new LinkedHashSet<>();

  private DirectInput input;
  private long nextRead;
  private long consumed;
  private CrailException failure;

  /** The files of a multi-file, one after the other. */
  public interface Files {
    /** Opens the next file that has bytes; null when there is none. */
    DirectInput next() throws CrailException, InterruptedException;
  }

  /**
   * Opens a stream.
   *
   * @param path the path of the multi-file
   * @param outstanding most reads in flight
   */
  public MultiFileInput(StreamContext streams, String path, Files files, int outstanding) {
    super(streams, outstanding);
    this.path = path;
    this.files = files;
    this.outstanding = outstanding;
    opened(path, closing(open));
  }

  /** Static, so that it does not refer to the stream. */
  private static Runnable closing(Set<DirectInput> inputs) {
    return () -> inputs.forEach(DirectInput::release);
  }

  @Override
  int window() {
    return outstanding;
  }

  @Override
  int wanted() throws CrailException, InterruptedException {
    if (failure != null) {
      throw failure.rethrown();
    }
    while (input == null || nextRead >= input.file().size()) {
      input = files.next();
      if (input == null) {
        return 0;
      }
      open.add(input);
      nextRead = 0;
    }
    return (int) Math.min(streams().sliceBytes(), input.file().size() - nextRead);
  }

  @Override
  Slice issue(StreamMemory.Piece free) throws CrailException, InterruptedException {
    StreamOperation operation =
        input.readAt(nextRead, free.memory(), free.root(), 0, Math.min(wanted(), free.length()));
    nextRead += operation.getLen();
    return new Slice(free, input, operation);
  }

  @Override
  void consumedFrom(Slice slice) {
    consumed += slice.end() - slice.start();
    if (slice.end() >= slice.input().file().size()) {
      finish(slice.input());
    }
  }

  /** All of a file has been read. */
  private void finish(DirectInput finished) {
    if (open.remove(finished)) {
      finished.release();
    }
  }

  @Override
  boolean skipsFailed(Slice slice, CrailException cause) {
    boolean gone = cause.code() == ErrorCode.STALE_NODE || cause.code() == ErrorCode.NODE_NOT_FOUND;
    if (slice.start() > 0 || !gone) {
      return false;
    }
    forget(slice.input());
    return true;
  }

  /** Drops a file that has vanished before anything of it was consumed. */
  private void forget(DirectInput vanished) {
    if (input == vanished) {
      input = null;
    }
    // The slices of this file are next to each other, and the first of them has just been removed.
    while (!ahead().isEmpty() && ahead().peekFirst().input() == vanished) {
      discardNext();
    }
    finish(vanished);
  }

  @Override
  void failedAt(Slice slice, CrailException cause) {
    // The place where a later read would have to continue is unknown, so the stream stays failed.
    failure = cause;
    while (!ahead().isEmpty()) {
      discardNext();
    }
  }

  @Override
  protected int readAt(long position, byte[] target, int offset, int length) throws IOException {
    throw noPositions();
  }

  @Override
  public void seek(long position) throws IOException {
    throw noPositions();
  }

  private CrailException noPositions() {
    return ErrorCode.UNSUPPORTED.exception("positions in the stream over " + path);
  }

  @Override
  public long position() {
    return consumed - slice().remaining();
  }

  @Override
  void closeInputs() throws Exception {
    for (DirectInput each : open) {
      each.close();
    }
    open.clear();
  }
}
