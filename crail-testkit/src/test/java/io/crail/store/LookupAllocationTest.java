/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.LeanLookup;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.Lookup;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.testkit.contract.AllocationCount;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What lookups allocate, at both ends and on the way. */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
@EachTier
class LookupAllocationTest {
  private static final int IN_FLIGHT = 64;
  private static final int REPEATED = 20;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** What the API gives the caller for a lookup: the future, the node, its path. */
  private static final int BYTES_OF_NODE = 512;

  private final Tier tier;

  LookupAllocationTest(Tier tier) {
    this.tier = tier;
  }

  @Test
  void lookupsAllocateNothingButWhatTheCallerGets() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      CrailStore store = cluster.newStore();
      String[] paths = new String[IN_FLIGHT];
      for (int i = 0; i < IN_FLIGHT; i++) {
        paths[i] = "/file-" + i;
        Bytes.write(store, paths[i], new byte[1 + i]);
      }
      throughTheApi(store, paths);
      withoutObjects(cluster.configuration(), paths);
    }
  }

  private void throughTheApi(CrailStore store, String[] paths) throws Exception {
    Upcoming<?>[] pending = new Upcoming<?>[IN_FLIGHT];
    AllocationCount.assertAtMost(
        "a lookup through the API, " + IN_FLIGHT + " in flight",
        REPEATED * IN_FLIGHT,
        BYTES_OF_NODE + tier.bytesOfCall(),
        () -> {
          for (int i = 0; i < REPEATED; i++) {
            for (int j = 0; j < IN_FLIGHT; j++) {
              pending[j] = store.lookup(paths[j]);
            }
            for (Upcoming<?> each : pending) {
              ((CrailNode) each.get()).getCapacity();
            }
          }
        });
  }

  private void withoutObjects(Configuration configuration, String[] paths) throws Exception {
    try (Transport transport = TransportProvider.open(configuration);
        ClientLoop loop = transport.newClientLoop("test")) {
      NameNodeClient client =
          new NameNodeClient(
              loop,
              configuration.get(ClusterKeys.NAMENODE_ADDRESS),
              new NameNodeClient.Identity(
                  Hello.ROLE_CLIENT, 1, "test", configuration.get(ClusterKeys.CLUSTER_NAME)),
              RpcPeer.Options.defaults(),
              PATIENCE_NANOS);
      try {
        LookupWithoutObjects[] calls = new LookupWithoutObjects[IN_FLIGHT];
        for (int i = 0; i < IN_FLIGHT; i++) {
          calls[i] = new LookupWithoutObjects(client.peer(0), Utf8.of(paths[i]));
        }
        for (int inFlight : new int[] {1, IN_FLIGHT}) {
          int repeated = inFlight == 1 ? 400 : REPEATED * 2;
          AllocationCount.assertAtMost(
              "a lookup, " + inFlight + " in flight",
              repeated * inFlight,
              tier.bytesOfCall(),
              () -> {
                for (int i = 0; i < repeated; i++) {
                  for (int j = 0; j < inFlight; j++) {
                    calls[j].begin();
                  }
                  for (int j = 0; j < inFlight; j++) {
                    calls[j].end();
                  }
                }
              });
        }
      } finally {
        client.close();
      }
    }
  }

  /** A lookup that makes no objects. */
  private static final class LookupWithoutObjects extends LeanLookup {
    private final RpcPeer namenode;
    private final Utf8 path;
    private long node;

    LookupWithoutObjects(RpcPeer namenode, Utf8 path) {
      this.namenode = namenode;
      this.path = path;
    }

    void begin() {
      prepare(namenode, path, namenode.loop().clock().nanoTime() + PATIENCE_NANOS);
      submit();
    }

    void end() throws InterruptedException {
      if (!namenode.loop().await(this, deadlineNanos()) || isFailed() || node == 0) {
        throw new AssertionError(failure());
      }
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) {
      node = in.getLong(offset + Lookup.Response.NODE);
    }
  }
}
