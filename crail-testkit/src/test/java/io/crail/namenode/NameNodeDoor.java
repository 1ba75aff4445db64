/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.protocol.OperationServer;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/** Lets the fuzzer in, which is in another package: a namenode in the caller's hands. */
public final class NameNodeDoor {
  private record Piece(RegionSpace region, long from, long to, Node owner) {}

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
    server = NameNodeService.create(namenode);
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

  /** Counts everything again; and no byte of space may belong to two nodes. */
  public void verify() {
    namenode.verify();
    List<Piece> pieces = new ArrayList<>();
    namenode
        .tree()
        .ids()
        .walk(
            0,
            node -> {
              NodeSpace space = node.space();
              for (int i = 0; space != null && i < space.count(); i++) {
                Allocation extent = space.at(i);
                long from = extent.regionOffset();
                pieces.add(new Piece(extent.region(), from, from + extent.allocatedLength(), node));
              }
              return true;
            });
    pieces.sort(
        Comparator.<Piece>comparingInt(piece -> System.identityHashCode(piece.region))
            .thenComparingLong(Piece::from));
    for (int i = 1; i < pieces.size(); i++) {
      Piece before = pieces.get(i - 1);
      Piece piece = pieces.get(i);
      if (before.region == piece.region && before.to > piece.from) {
        throw new AssertionError(before + " and " + piece + " have the same space");
      }
    }
    for (Piece piece : pieces) {
      if (piece.from < 0 || piece.to > piece.region.region().length()) {
        throw new AssertionError(piece + " is not in its region");
      }
    }
  }
}
