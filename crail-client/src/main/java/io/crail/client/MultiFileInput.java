/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A buffered stream over all files of a multi-file. Reads of the next files are issued while an
 * earlier one is consumed, each with the request for its location, so that nobody waits for a
 * lookup; the listing tells size and id of each.
 */
final class MultiFileInput extends SlicedInput {
  private final CoreContainer container;
  private final Listing children;
  private final int outstanding;

  /** Streams with a slice ahead, or that more will be read from. */
  private final Set<DirectInput> open = new LinkedHashSet<>();

  private DirectInput input;
  private long nextRead;
  private long consumed;
  private CrailException failure;

  MultiFileInput(CoreContainer container, Listing children, int outstanding) {
    super(container.store(), outstanding);
    this.container = container;
    this.children = children;
    this.outstanding = outstanding;
  }

  @Override
  int window() {
    return outstanding;
  }

  @Override
  Slice issue(ByteBuffer free) throws CrailException, InterruptedException {
    if (failure != null) {
      throw failure.rethrown();
    }
    while (input == null || nextRead >= input.file().size()) {
      if (!openNext()) {
        return null;
      }
    }
    StreamOperation operation =
        input.readAt(nextRead, free, memory().rootOf(free), 0, free.capacity());
    nextRead += operation.getLen();
    return new Slice(free, input, operation);
  }

  /** Opens the next file that has bytes; false when there is none. */
  private boolean openNext() throws CrailException, InterruptedException {
    input = null;
    while (children.fetch()) {
      CoreNode child = children.next();
      if (child instanceof CoreFile file && file.size() > 0) {
        input = file.openInput(file.size());
        open.add(input);
        nextRead = 0;
        return true;
      }
    }
    return false;
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
    // Its slices are next to each other, and the first of them has just been taken away.
    while (!ahead().isEmpty() && ahead().peekFirst().input() == vanished) {
      discardNext();
    }
    finish(vanished);
  }

  @Override
  void failedAt(Slice slice, CrailException cause) {
    // Nobody can tell where a later read would have to go on, so the stream stays failed.
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
    return ErrorCode.UNSUPPORTED.exception("positions in the stream over " + container.getPath());
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
