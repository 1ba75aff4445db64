/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.datanode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.client.datanode.Endpoints;
import io.crail.client.datanode.MappingWarnings;
import io.crail.client.statistics.StoreStatistics;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Transport.ServerEndpoint;
import io.crail.storage.DatanodeDescription;
import io.crail.testkit.sim.SimulatedNetwork;
import io.crail.testkit.sim.SimulatedTier;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A datanode with more regions than an answer has, whose process changes between two answers. */
class DescriptionPagesTest {
  private static final int DATANODE = 7;
  private static final int REGIONS = 2 * DescribeDatanode.MAX_REGIONS + 10;
  private static final InetSocketAddress NAMENODE =
      InetSocketAddress.createUnresolved("namenode", 9060);

  private final SimulatedNetwork network =
      new SimulatedNetwork(Long.getLong("crail.seed", System.nanoTime()));

  /** A namenode that describes one process after the other. */
  private static final class ScriptedNamenode implements Service {
    private final int[] processes;
    private int asked;

    /**
     * Creates it.
     *
     * @param processes those of the first answers; the last one stays
     */
    ScriptedNamenode(int... processes) {
      this.processes = processes;
    }

    @Override
    public void serve(RequestBatch batch, ResponseWriter responses) {
      for (int i = 0; i < batch.count(); i++) {
        if (batch.opcode(i) == NameNodeOperations.HELLO.number()) {
          answer(batch, i, responses, Hello.Response.CODEC, hello());
        } else {
          answer(batch, i, responses, DescribeDatanode.Response.CODEC, describe(batch, i));
        }
      }
    }

    private static Hello.Response hello() {
      return new Hello.Response(
          Frame.VERSION, 0, 1, 1 << 20, 4096, 0, false, 10_000, 1, 0, Utf8.of("crail"));
    }

    private DescribeDatanode.Response describe(RequestBatch batch, int i) {
      int first;
      try {
        first =
            DescribeDatanode.Request.CODEC
                .decode(batch.buffer(), batch.bodyOffset(i), batch.bodyLength(i))
                .firstRegion();
      } catch (CrailException e) {
        throw new AssertionError(e);
      }
      int process = processes[Math.min(asked++, processes.length - 1)];
      int to = Math.min(first + DescribeDatanode.MAX_REGIONS, REGIONS);
      return new DescribeDatanode.Response(
          0,
          process,
          50_020,
          0,
          true,
          true,
          REGIONS,
          Utf8.of(SimulatedTier.NAME),
          Utf8.of("datanode"),
          TierTraits.ofMemory(FenceKind.CUT_OFF, false, ""),
          SmallValue.NONE,
          IntStream.range(first, to).mapToObj(each -> new Region(each, 4096, 0, process)).toList());
    }

    private static <T> void answer(
        RequestBatch batch, int i, ResponseWriter responses, Codec<T> codec, T message) {
      int length = codec.length(message);
      int body = responses.begin(length);
      codec.encode(message, responses.buffer(), body);
      responses.end(batch.correlationId(i), length);
    }
  }

  private void requireWhole(int... processes) throws Exception {
    Configuration configuration = Configuration.defaults();
    ClientLoop loop = network.transport("client").newClientLoop("client");
    SimulatedTier tier = new SimulatedTier(network.random(), network, REGIONS, 4096);
    NameNodeClient namenodes =
        new NameNodeClient(
            loop,
            List.of(NAMENODE),
            new NameNodeClient.Identity(Hello.ROLE_CLIENT, 1, "client", "crail"),
            RpcPeer.Options.defaults(),
            Duration.ofSeconds(1).toNanos());
    ServerEndpoint server =
        network
            .transport(NAMENODE.getHostString())
            .listen("namenode", NAMENODE, new ScriptedNamenode(processes));
    try {
      Endpoints endpoints =
          new Endpoints(
              configuration,
              network.transport("client"),
              loop,
              namenodes,
              name -> tier,
              new MappingWarnings(LoggerFactory.getLogger(DescriptionPagesTest.class)),
              1,
              new StoreStatistics(false, null, null));
      endpoints.prepare(DATANODE);
      network.runFor(Duration.ofSeconds(2));
      assertEquals(1, endpoints.size());
      DatanodeDescription known = endpoints.known().get(0);
      int last = processes[processes.length - 1];
      assertEquals(new UUID(0, last), known.uuid());
      assertEquals(REGIONS, known.regions().size());
      assertTrue(
          known.regions().values().stream().allMatch(each -> each.key() == last),
          "keys of another process");
      endpoints.close();
      network.runFor(Duration.ofSeconds(1));
    } finally {
      namenodes.close();
      loop.close();
      server.close();
    }
  }

  @Test
  void allRegionsAreOfOneProcess() throws Exception {
    for (int[] processes :
        new int[][] {{1}, {1, 2}, {1, 1, 2}, {1, 2, 3}, {1, 2, 2, 3}, {1, 1, 2, 2, 3}}) {
      requireWhole(processes);
    }
  }
}
