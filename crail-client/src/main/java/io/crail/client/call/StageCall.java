/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.DirectOutput;
import io.crail.client.stream.OpenedOutput;
import io.crail.common.error.CrailException;
import io.crail.compound.StagedBytes;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Put;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stages bytes: create and write, as a put does. The stream stays open, so the lease is renewed
 * until the bytes are linked, closed, or dropped by the program.
 */
public final class StageCall extends Completion implements Awaitable<StagedBytes> {
  private static final Logger LOG = LoggerFactory.getLogger(StageCall.class);

  private final Writing writing;
  private volatile Staged staged;

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param namenode the index of the path's namenode
   * @param path as messages show it
   * @param root what the memory of the bytes was cut from
   * @param request with a token, and without the bytes
   */
  public StageCall(
      StoreContext store,
      LoopContext context,
      int namenode,
      String path,
      ByteBuffer root,
      Put.Draft request) {
    this.writing = new Writing(store, context, namenode, path, root, request);
  }

  /** Sends the create. */
  public void begin() {
    writing.whenComplete(this::written);
    writing.begin();
  }

  private void written() {
    if (writing.isFailed()) {
      fail(writing.failure());
    } else {
      staged = writing.staged();
      succeed();
    }
  }

  @Override
  public ClientLoop loop() {
    return writing.loop();
  }

  @Override
  public long deadlineNanos() {
    return writing.deadlineNanos();
  }

  @Override
  public StagedBytes result() {
    return staged;
  }

  @Override
  public String toString() {
    return writing.toString();
  }

  /**
   * The create and the write. The open stream leads to this, so this does not lead to what the
   * program has: only so the collector finds out that it was dropped.
   */
  private static final class Writing extends ValueCall<DirectOutput> {
    private volatile DirectOutput output;

    Writing(
        StoreContext store,
        LoopContext context,
        int namenode,
        String path,
        ByteBuffer root,
        Put.Draft request) {
      super(NameNodeOperations.STAGE, store, context, namenode, path, root, request);
    }

    @Override
    void written(DirectOutput stream, CrailException failure) {
      CrailException lost = failure == null ? stream.loss() : failure;
      if (lost != null) {
        stream.beginClose(later -> closed(lost));
      } else {
        output = stream;
        closed(null);
      }
    }

    @Override
    public DirectOutput result() {
      return output;
    }

    Staged staged() {
      return new Staged(
          value().id(), request().token(), request().length(), new OpenedOutput(output));
    }
  }

  /** What the program has. Thread-safe. */
  static final class Staged implements StagedBytes {
    private final long id;
    private final long token;
    private final long length;
    private final OpenedOutput output;
    private final AtomicBoolean ended = new AtomicBoolean();

    private Staged(long id, long token, long length, OpenedOutput output) {
      this.id = id;
      this.token = token;
      this.length = length;
      this.output = output;
    }

    @Override
    public long id() {
      return id;
    }

    @Override
    public long token() {
      return token;
    }

    @Override
    public long length() {
      return length;
    }

    /** Why they are lost, as far as that is known here; else null. */
    CrailException holderLost() {
      return output.holderLost();
    }

    /** A list has linked them, so there is no lease to give back. Does not block. */
    void linked() {
      if (ended.compareAndSet(false, true)) {
        output.leaseEnded();
      }
    }

    @Override
    public void close() {
      if (!ended.compareAndSet(false, true)) {
        return;
      }
      try {
        output.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (CrailException e) {
        // They end with their lease.
        LOG.debug("the end of {}", this, e);
      }
    }

    @Override
    public String toString() {
      return length + " staged bytes, node " + id;
    }
  }
}
