/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.lease;

import io.crail.client.loop.LoopContext;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.AcquireLease;

/** Asks for a write lease, and remembers which start of the namenode granted it. */
public final class AcquireCall extends OperationCall<AcquireLease.Request, AcquireLease.Response> {
  private final LoopContext context;
  private final long id;
  private volatile long incarnation;

  /** Creates a call, ready to be submitted. */
  public AcquireCall(LoopContext context, long id, long token) {
    super(NameNodeOperations.ACQUIRE_LEASE);
    this.context = context;
    this.id = id;
    AcquireLease.Request request = new AcquireLease.Request(id, token);
    context.prepare(this, request);
  }

  /** Which start of the namenode has granted the lease; once this has succeeded. */
  public long incarnation() {
    return incarnation;
  }

  @Override
  protected void answered() {
    incarnation = context.incarnation(id);
  }
}
