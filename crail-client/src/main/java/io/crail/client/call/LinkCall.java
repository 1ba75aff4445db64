/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.loop.Awaitable;
import io.crail.common.error.CrailException;
import io.crail.compound.CompoundResult;
import io.crail.compound.StagedBytes;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;

/**
 * A compound operation on its way that links staged bytes. It holds them, so that the collector
 * does not end them meanwhile. It asks whether they are still there, also once they are linked.
 */
public final class LinkCall extends Completion implements Awaitable<CompoundResult> {
  private final CompoundCall list;
  private final StagedBytes staged;

  /** Creates a call; {@link #begin} starts it. */
  public LinkCall(CompoundCall list, StagedBytes staged) {
    this.list = list;
    this.staged = staged;
  }

  /** Sends the list, unless bytes are known to be lost. */
  public void begin() {
    CrailException lost = staged instanceof StageCall.Staged own ? own.holderLost() : null;
    if (lost != null) {
      fail(lost);
      return;
    }
    list.whenComplete(this::answered);
    list.submit();
  }

  private void answered() {
    CrailException failure = list.failure();
    if (failure == null && list.hasLinked() && staged instanceof StageCall.Staged own) {
      own.linked();
      failure = own.holderLost();
    }
    if (failure == null) {
      succeed();
    } else {
      fail(failure);
    }
  }

  @Override
  public ClientLoop loop() {
    return list.loop();
  }

  @Override
  public long deadlineNanos() {
    return list.deadlineNanos();
  }

  @Override
  public CompoundResult result() {
    return list.result();
  }

  @Override
  public String toString() {
    return list.toString();
  }
}
