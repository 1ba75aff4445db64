/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.CrailBuffer;
import io.crail.CrailNode;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.common.error.CrailException;
import java.io.IOException;
import java.lang.ref.Reference;
import java.util.concurrent.Future;

/** An output stream as its user has it. The store knows the stream itself, but not this. */
public final class OpenedOutput implements CrailOutputStream {
  private final DirectOutput output;
  private final UnclosedStreams.Entry entry;

  /** Gives the user a stream. */
  public OpenedOutput(DirectOutput output) {
    this.output = output;
    this.entry = output.streams().unclosed().add(this, output.file().getPath(), output::abandon);
  }

  @Override
  public CrailNode getFile() {
    return output.getFile();
  }

  @Override
  public Future<CrailResult> write(CrailBuffer buffer) throws Exception {
    try {
      return output.write(buffer);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public Future<Void> sync() throws IOException {
    try {
      return output.sync();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public long position() {
    return output.position();
  }

  @Override
  public long getWriteHint() {
    return output.getWriteHint();
  }

  /** Why acknowledged bytes of this are lost, as far as that is known here; else null. */
  public CrailException holderLost() {
    return output.holderLost();
  }

  /** As {@link #close}, once the namenode has ended the lease. Does not wait. */
  public void leaseEnded() {
    entry.closed();
    output.leaseEnded();
  }

  @Override
  public void close() throws CrailException, InterruptedException {
    entry.closed();
    output.close();
  }
}
