/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.client.CoreStore;
import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.protocol.ClusterKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the lease of controllers at a real namenode. */
@Timeout(120)
class ScaleLeaseTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final int TURNS = 20;

  @Test
  void oneHasTheLeaseUntilItGivesItBack() throws Exception {
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start();
        CoreStore store = CoreStore.open(cluster.configuration())) {
      ScaleLease first = new ScaleLease(store, "class-0", "first", LONG, Clock.SYSTEM);
      ScaleLease second = new ScaleLease(store, "class-0", "second", LONG, Clock.SYSTEM);
      assertEquals(new ScaleLease.Held(1, ""), first.acquire().orElseThrow());
      assertEquals(Optional.empty(), second.acquire());
      assertThrows(LeaseLostException.class, () -> second.hold("of the second"));
      first.hold("of the first");
      assertTrue(
          new ScaleLease(store, "class-1", "other", LONG, Clock.SYSTEM).acquire().isPresent());
      first.release();
      assertThrows(LeaseLostException.class, () -> first.hold("too late"));
      assertEquals(new ScaleLease.Held(2, "of the first"), second.acquire().orElseThrow());
      assertEquals(List.of(), List.copyOf(names(store)), "listings do not show it");
    }
  }

  private static List<String> names(CoreStore store) throws Exception {
    List<String> names = new ArrayList<>();
    var all = store.lookup("/").get().asDirectory().listEntries();
    while (all.hasNext()) {
      names.add(all.next());
    }
    return names;
  }

  @Test
  void aNamenodeThatHasRestartedKnowsNoLease() throws Exception {
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start();
        CoreStore store = CoreStore.open(cluster.configuration())) {
      ScaleLease lease = new ScaleLease(store, "class-0", "first", LONG, Clock.SYSTEM);
      lease.acquire().orElseThrow();
      lease.hold("record");
      cluster.restartNamenode(0);
      assertThrows(LeaseLostException.class, () -> lease.hold("record"));
      assertEquals(new ScaleLease.Held(1, ""), lease.acquire().orElseThrow());
    }
  }

  /** A clock of which each look takes long. */
  private static final class Slow implements Clock {
    private long nanos;

    @Override
    public long nanoTime() {
      return nanos += LONG.toNanos();
    }

    @Override
    public long currentTimeMillis() {
      return nanos / 1_000_000;
    }
  }

  @Test
  void anAnswerThatComesLateIsNone() throws Exception {
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start();
        CoreStore store = CoreStore.open(cluster.configuration())) {
      ScaleLease lease = new ScaleLease(store, "class-0", "first", LONG, new Slow());
      lease.acquire().orElseThrow();
      LeaseLostException lost = assertThrows(LeaseLostException.class, () -> lease.hold("record"));
      assertEquals("the namenode answers too late", lost.getMessage());
    }
  }

  /** A clock that stands still. */
  private static final class Still implements Clock {
    private long nanos;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public long currentTimeMillis() {
      return nanos / 1_000_000;
    }
  }

  @Test
  void aLeaseThatCannotBeRenewedRunsOut() throws Exception {
    Still clock = new Still();
    try (EmbeddedCrail cluster =
            EmbeddedCrail.builder().set(ClusterKeys.RPC_TIMEOUT.name(), "500ms").start();
        CoreStore store = CoreStore.open(cluster.configuration())) {
      ScaleLease lease = new ScaleLease(store, "class-0", "first", LONG, clock);
      lease.acquire().orElseThrow();
      clock.nanos += LONG.toNanos() / 2;
      lease.hold("record");
      cluster.close();
      clock.nanos += LONG.toNanos() / 3 * 2;
      assertThrows(CrailException.class, () -> lease.hold("record"));
      clock.nanos += 1;
      assertThrows(LeaseLostException.class, () -> lease.hold("record"));
    }
  }

  /**
   * What an owner has done.
   *
   * @param written acknowledged additions
   * @param lost how often it has lost the lease; the last addition may have been done all the same
   */
  private record Reigned(int written, int lost) {}

  /** Each adds one to the number in the record while it has the lease, and now and then sleeps. */
  private static Reigned reign(CoreStore store, int number) throws Exception {
    Random random = new Random(number);
    String owner = "owner-" + number;
    ScaleLease lease = new ScaleLease(store, "class-0", owner, Duration.ofMillis(60), Clock.SYSTEM);
    int written = 0;
    int lost = 0;
    long token = 0;
    for (int turns = 0; turns < TURNS; ) {
      Optional<ScaleLease.Held> held = lease.acquire();
      if (held.isEmpty()) {
        Thread.sleep(random.nextInt(20));
        continue;
      }
      assertTrue(held.get().token() >= token, "tokens grow");
      token = held.get().token();
      turns++;
      int sum = held.get().record().isEmpty() ? 0 : Integer.parseInt(held.get().record());
      try {
        for (int i = random.nextInt(20); i > 0; i--) {
          // Some pauses are longer than the lease, as of a controller that was stopped.
          Thread.sleep(random.nextInt(10) == 0 ? 100 : random.nextInt(10));
          lease.hold(String.valueOf(++sum));
          written++;
        }
        if (random.nextBoolean()) {
          lease.release();
        }
      } catch (LeaseLostException e) {
        // Another one goes on, with what was written before.
        lost++;
      }
    }
    return new Reigned(written, lost);
  }

  @Test
  void whoHasLostItWritesNothing() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start();
        CoreStore store = CoreStore.open(cluster.configuration())) {
      List<Future<Reigned>> owners = new ArrayList<>();
      for (int number = 0; number < 3; number++) {
        int own = number;
        owners.add(threads.submit(() -> reign(store, own)));
      }
      int written = 0;
      int lost = 0;
      for (Future<Reigned> each : owners) {
        Reigned reigned = each.get(90, TimeUnit.SECONDS);
        written += reigned.written();
        lost += reigned.lost();
      }
      ScaleLease last = new ScaleLease(store, "class-0", "last", LONG, Clock.SYSTEM);
      Optional<ScaleLease.Held> held = last.acquire();
      while (held.isEmpty()) {
        Thread.sleep(10);
        held = last.acquire();
      }
      int sum = Integer.parseInt(held.get().record());
      String what = written + " and at most " + lost + " make " + sum;
      // One who writes without the lease would take back what others have added.
      assertTrue(sum >= written && sum <= written + lost, what);
      assertTrue(held.get().token() > 10, held::toString);
    } finally {
      threads.shutdownNow();
    }
  }
}
