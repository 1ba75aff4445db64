/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which methods of a tier's server are called, in which order. The server serves nothing. */
class HostedServerTest {
  private static final HostKeys KEYS =
      new HostKeys(
          "test",
          TierKeys.networkInterface("test", "where"),
          TierKeys.port("test", 7000),
          ConfigKey.of("test.limit", ConfigType.BYTES, "2m", "how much"),
          ConfigKey.of("test.length", ConfigType.BYTES, "1m", "in which pieces"),
          TierKeys.dataPath("test", "in which directory"));

  @TempDir Path dataPath;
  private final List<String> steps = new ArrayList<>();
  private String fails = "";

  private final class Server extends HostedServer {
    private final HostedRegions regions;

    Server(HostedRegions regions, Configuration configuration) {
      super(KEYS, configuration);
      this.regions = regions;
    }

    private void step(String step) throws IOException {
      steps.add(step);
      if (fails.equals(step)) {
        throw new IOException(step);
      }
    }

    @Override
    protected HostedRegions place() throws IOException {
      step("place");
      return regions;
    }

    @Override
    protected void prepare(InetSocketAddress address, List<Integer> lengths) throws IOException {
      assertEquals(7000, address.getPort());
      assertEquals(List.of(1 << 20, 1 << 20), lengths);
      assertEquals(List.of(), hosted().all());
      step("prepare");
    }

    @Override
    protected void serve(InetSocketAddress address) throws IOException {
      assertEquals(2, hosted().all().size());
      step("serve");
    }

    @Override
    protected void stop() {
      steps.add("stop");
    }

    @Override
    public InetSocketAddress address() {
      throw new UnsupportedOperationException();
    }

    @Override
    public TierTraits traits() {
      return TierTraits.ofMemory(FenceKind.CUT_OFF, true, hosted().mappablePath());
    }

    @Override
    public Fence fence(int region) {
      throw new UnsupportedOperationException();
    }
  }

  private Server server() {
    return new Server(HostedRegions.inFiles(dataPath.toString(), false), Configuration.defaults());
  }

  private List<String> left() {
    return List.of(dataPath.toFile().list());
  }

  @Test
  void regionsAreMadeBeforeTheyAreServedAndGoAfterwards() throws IOException {
    Server server = server();
    UUID uuid = UUID.randomUUID();
    server.start(uuid);
    assertEquals(List.of("place", "prepare", "serve"), steps);
    assertEquals(
        List.of(new Region(0, 1 << 20, 0, 0), new Region(1, 1 << 20, 0, 0)), server.regions());
    assertEquals(
        dataPath.resolve(uuid.toString()).toString(), server.traits().directory().toString());
    assertEquals(List.of(uuid.toString()), left());
    server.close();
    server.close();
    assertEquals(List.of("place", "prepare", "serve", "stop"), steps);
    assertEquals(List.of(), left());
    assertEquals(List.of(), server.regions());
  }

  @Test
  void aFailedStartLeavesNothing() {
    for (String step : List.of("place", "prepare", "serve")) {
      steps.clear();
      fails = step;
      Server server = server();
      IOException failure = assertThrows(IOException.class, () -> server.start(UUID.randomUUID()));
      assertEquals(step, failure.getMessage());
      assertEquals("stop", steps.get(steps.size() - 1));
      server.close();
      assertEquals(1, steps.stream().filter("stop"::equals).count());
      assertEquals(List.of(), left());
    }
  }

  @Test
  void aClientIsCutOffOnceItsConnectionsHaveEnded() {
    Queue<Boolean> answers = new ArrayDeque<>(List.of(false, false, true));
    BooleanSupplier done =
        ClientCutOff.order(
            List.of(7L),
            HostedRegions.anonymous(),
            ids -> {
              assertEquals(Set.of(7L), ids);
              return answers.remove();
            },
            Runnable::run);
    assertFalse(done.getAsBoolean());
    assertTrue(done.getAsBoolean());
    assertTrue(done.getAsBoolean());
  }
}
