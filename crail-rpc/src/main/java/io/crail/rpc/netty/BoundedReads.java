/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/**
 * Limits how often in a row a channel reads its socket. Without a limit one connection could keep
 * the other connections of its loop waiting. The channel also stops when there is no room. The
 * subclass decides where the bytes go. Used only by the connection's thread.
 */
@SuppressWarnings("deprecation") // Netty's own base class of handles is deprecated as well.
public abstract class BoundedReads implements RecvByteBufAllocator.ExtendedHandle {
  private final int mostReads;
  private ChannelConfig config;
  private int reads;
  private int attempted;
  private int last;

  /**
   * Creates the handle of a channel.
   *
   * @param mostReads reads in a row, at least 1
   */
  protected BoundedReads(int mostReads) {
    this.mostReads = mostReads;
  }

  /** The number of bytes that could be received now. */
  protected abstract int room();

  @Override
  public final int guess() {
    return room();
  }

  @Override
  public final void reset(ChannelConfig newConfig) {
    config = newConfig;
    reads = 0;
    attempted = 0;
    last = 0;
  }

  @Override
  public final void incMessagesRead(int count) {
    reads += count;
  }

  @Override
  public final void lastBytesRead(int bytes) {
    last = bytes;
  }

  @Override
  public final int lastBytesRead() {
    return last;
  }

  @Override
  public final void attemptedBytesRead(int bytes) {
    attempted = bytes;
  }

  @Override
  public final int attemptedBytesRead() {
    return attempted;
  }

  @Override
  public final boolean continueReading() {
    return mayRead() && last == attempted;
  }

  @Override
  public final boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
    return mayRead() && maybeMoreData.get();
  }

  private boolean mayRead() {
    return reads < mostReads && config.isAutoRead() && room() > 0;
  }

  @Override
  public final void readComplete() {}
}
