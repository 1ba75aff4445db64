/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.user.Logins;
import io.crail.protocol.OperationServer;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import java.util.Map;
import java.util.Random;

/** Lets the fuzzer in, which is in another package: a namenode in the caller's hands. */
public final class NameNodeDoor {
  private final ManualTime clock = new ManualTime();
  private final NameNode namenode;
  private final OperationServer server;

  private static final class ManualTime implements Clock {
    private long nanos = 1_000_000_000L;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public long currentTimeMillis() {
      return 1_750_000_000_000L + nanos / 1_000_000;
    }
  }

  /** An empty namenode; the same configuration makes the same one again. */
  public NameNodeDoor(Configuration configuration) {
    namenode = new NameNode(NameNodeOptions.of(configuration, 0, 1), clock, new Random(1));
    server = NameNodeService.create(namenode, null, Leadership.ALONE, Logins.ANYBODY, Map::of);
  }

  /** Serves requests. */
  public void serve(RequestBatch batch, ResponseWriter responses) throws CrailException {
    server.serve(batch, responses);
  }

  /** Lets time go by, and the namenode do what that brings. */
  public void pass(long nanos) {
    clock.nanos += nanos;
    namenode.tick();
  }

  /** Counts everything again; the limits are kept, and no byte of space may belong to two nodes. */
  public void verify() {
    namenode.verify();
    NameNodeOptions options = namenode.options();
    if (namenode.leases().size() > options.maxLeases()
        || namenode.budget().used() > namenode.budget().most()) {
      throw new AssertionError(
          namenode.leases().size() + " leases and " + namenode.budget().used() + " bytes of heap");
    }
  }
}
