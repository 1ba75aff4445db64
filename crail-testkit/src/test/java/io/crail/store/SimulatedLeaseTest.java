/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.common.error.WriteLeaseLostException;
import io.crail.namenode.NameNodeServer;
import io.crail.testkit.sim.SimulatedNetwork;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writers that hang, in virtual time: a store whose loops nobody drives renews nothing. */
@Timeout(60) // Virtual time stands still while a store waits for a stream left open.
class SimulatedLeaseTest {
  private static final int PORT = 9060;
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration STEP = Duration.ofMillis(100);

  private final SimulatedNetwork network = new SimulatedNetwork(Bytes.seed("simulated leases"));
  private Configuration configuration;
  private NameNodeServer namenode;
  private CrailStore store;
  private CrailStore other;

  @BeforeEach
  void start() throws Exception {
    configuration =
        Configuration.builder()
            .set("crail.namenode.address", "crail://namenode:" + PORT, "test")
            .set("crail.client.host", "client", "test")
            .set("crail.client.loops", "1", "test")
            .set("crail.rpctimeout", "30s", "test")
            .set("crail.lease", LEASE.toMillis() + "ms", "test")
            .build();
    namenode =
        NameNodeServer.start(
            configuration,
            0,
            1,
            InetSocketAddress.createUnresolved("namenode", PORT),
            network.transport("namenode"),
            network.clock());
    store = CoreStore.open(configuration, network.transport("client"), network.clock());
    other = CoreStore.open(configuration, network.transport("other"), network.clock());
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    other.close();
    namenode.close();
  }

  /** Lets a store live for a time, so that it renews its leases. */
  private void drive(CrailStore driven, Duration span) throws Exception {
    long end = network.clock().nanoTime() + span.toNanos();
    while (network.clock().nanoTime() - end < 0) {
      driven.lookup("/nothing").get();
      network.runFor(STEP);
    }
  }

  /** Opens the file from elsewhere once the namenode's own thread has seen its lease end. */
  private CrailOutputStream takeOver() throws Exception {
    CrailFile file = other.lookup("/f").get().asFile();
    AtomicReference<CrailOutputStream> opened = new AtomicReference<>();
    TestCluster.await(
        "the lease is free",
        () -> {
          try {
            opened.set(file.getDirectOutputStream(0));
            return true;
          } catch (WriteLeaseHeldException e) {
            return false;
          }
        });
    return opened.get();
  }

  private static void assertLost(CrailOutputStream output) {
    assertThrows(WriteLeaseLostException.class, () -> output.write(Bytes.empty(0)));
    ExecutionException failed = assertThrows(ExecutionException.class, () -> output.sync().get());
    assertInstanceOf(WriteLeaseLostException.class, failed.getCause());
    assertThrows(WriteLeaseLostException.class, output::close);
  }

  @Test
  void aLeaseLastsAsLongAsItIsRenewed() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    CrailFile elsewhere = other.lookup("/f").get().asFile();
    for (int i = 0; i < 5; i++) {
      drive(store, LEASE);
      assertThrows(WriteLeaseHeldException.class, () -> elsewhere.getDirectOutputStream(0));
    }
    output.write(Bytes.empty(0)).get();
    output.sync().get();
    output.close();
    elsewhere.getDirectOutputStream(0).close();
  }

  @Test
  void aWriterThatHungLongerThanItsLeaseHasLostIt() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    drive(store, LEASE);
    network.runFor(LEASE.multipliedBy(3));
    CrailOutputStream next = takeOver();
    // Its renewal succeeds, and comes too late.
    drive(store, LEASE.dividedBy(2));
    assertLost(output);
    next.sync().get();
    next.close();
  }

  @Test
  void aLaterLeaseAtTheSameNamenodeDoesNotReviveTheFirst() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    network.runFor(LEASE.multipliedBy(3));
    takeOver().close();
    CrailOutputStream later = Bytes.createFile(store, "/later").getDirectOutputStream(0);
    drive(store, LEASE.multipliedBy(2));
    assertLost(output);
    later.sync().get();
    later.close();
  }

  @Test
  void aRenewalThatArrivesTooLateIsNone() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/f").getDirectOutputStream(0);
    drive(store, Duration.ofSeconds(3));
    network.partition("client", "namenode");
    // The renewal is sent in time, and held back until another lease has begun.
    var pending = store.lookup("/nothing");
    for (int i = 0; i < 150; i++) {
      pending.isDone();
      network.runFor(STEP);
    }
    CrailOutputStream next = takeOver();
    network.heal("client", "namenode");
    pending.get();
    drive(store, Duration.ofSeconds(1));
    assertLost(output);
    next.close();
  }
}
