/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.rule.SpreadRule;
import io.crail.namenode.rule.SpreadStandings;
import io.crail.protocol.cluster.LendQuota;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Something throws: requests that wait for a loan end all the same, and comparisons go on. */
class NeighbourCallsTest {
  private final Configuration conf = Configuration.builder().build();
  private final List<ErrorCode> ended = new ArrayList<>();
  private Transport transport;
  private NeighbourCalls calls;

  /** Has nothing to lend. */
  private static final class Loans implements SpreadRule.QuotaLoans {
    private Runnable next;

    Loans(Runnable first) {
      this.next = first;
    }

    @Override
    public LendQuota.Request offer(int namenode) {
      Runnable present = next;
      next = () -> {};
      present.run();
      return null;
    }

    @Override
    public void answered(int namenode, LendQuota.Request request, LendQuota.Response response) {
      throw new AssertionError("nothing was lent");
    }
  }

  @BeforeEach
  void start() throws Exception {
    transport = TransportProvider.open(conf);
    calls = new NeighbourCalls(conf, 0, Clock.SYSTEM);
  }

  @AfterEach
  void stop() {
    calls.close();
    transport.close();
  }

  /** Nothing is sent to them. */
  private void open(int namenodes) {
    open(namenodes, transport);
  }

  private void open(int namenodes, Transport with) {
    InetSocketAddress address = InetSocketAddress.createUnresolved("none", 1);
    NamenodeAddresses all = NamenodeAddresses.of(Collections.nCopies(namenodes, address));
    calls.open(conf, with, all, new Random(1));
  }

  /** No thread waits for these calls, so a loop that waiting threads drive would send them late. */
  @Test
  void theirLoopHasAThreadOfItsOwn() {
    List<ClientLoop> own = new ArrayList<>();
    Transport noted =
        new Transport() {
          @Override
          public ServerEndpoint listen(String name, InetSocketAddress address, Service service)
              throws IOException {
            return transport.listen(name, address, service);
          }

          @Override
          public ClientLoop newClientLoop(String name) {
            return transport.newClientLoop(name);
          }

          @Override
          public ClientLoop newOwnLoop(String name) {
            own.add(transport.newOwnLoop(name));
            return own.get(0);
          }

          @Override
          public void close() {}
        };
    open(2, noted);
    assertEquals(1, own.size());
  }

  private static void wrong() {
    throw new IllegalStateException("wrong");
  }

  private Consumer<CrailException> ends() {
    return failure -> ended.add(failure == null ? ErrorCode.OK : failure.code());
  }

  @Test
  void anOfferThatFailsEndsAndTheNextOneIsMade() {
    open(3);
    SpreadRule.QuotaLoans loans = new Loans(NeighbourCallsTest::wrong);
    assertThrows(IllegalStateException.class, () -> calls.lend(loans, ends()));
    assertEquals(List.of(ErrorCode.INTERNAL), ended);
    calls.lend(loans, ends());
    assertEquals(List.of(ErrorCode.INTERNAL, ErrorCode.OK), ended);
  }

  @Test
  void oneThatWaitsIsServedAfterAnotherHasThrown() {
    open(2);
    List<SpreadRule.QuotaLoans> own = new ArrayList<>();
    SpreadRule.QuotaLoans loans =
        new Loans(
            () -> {
              calls.lend(own.get(0), ends());
              calls.lend(own.get(0), failure -> wrong());
              calls.lend(own.get(0), ends());
            });
    own.add(loans);
    assertThrows(IllegalStateException.class, () -> calls.lend(loans, failure -> wrong()));
    assertEquals(List.of(ErrorCode.OK, ErrorCode.OK), ended);
  }

  @Test
  void comparisonsGoOnAfterAnException() {
    ManualClock clock = new ManualClock();
    AtomicInteger reads = new AtomicInteger();
    SpreadStandings directories =
        new SpreadStandings(
            null,
            null,
            1,
            () -> {
              if (reads.getAndIncrement() > 0) {
                wrong();
              }
              return 1;
            });
    calls.close();
    calls = new NeighbourCalls(conf, 0, clock);
    open(3);
    List<String> lent = new ArrayList<>();
    SpreadRule.QuotaLoans loans = new Loans(() -> lent.add("lent"));
    assertThrows(IllegalStateException.class, () -> calls.tick(directories, loans));
    assertEquals(3, reads.get(), "one at its creation, and one for each of two others");
    assertEquals(List.of("lent"), lent);
    clock.advanceMillis(1_000);
    assertThrows(IllegalStateException.class, () -> calls.tick(directories, loans));
    assertEquals(5, reads.get());
  }
}
