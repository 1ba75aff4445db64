/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.datanode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.codec.Codec;
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
import io.crail.storage.Fencer;
import io.crail.storage.LastingBytes;
import io.crail.storage.StorageServer;
import io.crail.storage.daemon.Registration;
import io.crail.storage.daemon.RegistrationStatus;
import io.crail.testkit.sim.SimulatedNetwork;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a datanode stays registered, in virtual time, with namenodes that follow a script. */
class RegistrationTest {
  private static final TierTraits TRAITS =
      new TierTraits(512, FenceKind.REST, 0, true, Utf8.EMPTY, Utf8.of("nqn.2014-08.org:a 1"));

  private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final SimulatedNetwork network = new SimulatedNetwork(seed);
  private final ClientLoop loop = network.transport("datanode").newClientLoop("datanode");
  private final List<ScriptedNamenode> namenodes = new ArrayList<>();
  private final UUID uuid = UUID.randomUUID();
  private Registration registration;
  // By region, the generation to which its fence was raised.
  private final Map<Integer, Long> fences = new TreeMap<>();
  private final List<List<Integer>> announced = new ArrayList<>();
  private final List<List<Long>> cutOffs = new ArrayList<>();
  private boolean cutOffsWait;
  private boolean impaired;
  private Optional<StorageServer.Statistics> statistics = Optional.empty();
  private final Set<Integer> unquiet = new HashSet<>();
  private NameNodeClient client;
  private ScriptedKept kept;

  @AfterEach
  void stop() {
    client.close();
    loop.close();
    namenodes.forEach(ScriptedNamenode::stop);
  }

  private void start(int count, int regionCount) throws IOException {
    System.out.println("-Dcrail.seed=" + seed);
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ScriptedNamenode namenode = new ScriptedNamenode(i, count);
      namenodes.add(namenode);
      addresses.add(namenode.address);
    }
    client =
        new NameNodeClient(
            loop,
            addresses,
            new NameNodeClient.Identity(Hello.ROLE_DATANODE, 1, "host", "crail"),
            RpcPeer.Options.defaults(),
            Duration.ofSeconds(1).toNanos());
    register(regionCount);
  }

  private void register(int regionCount) {
    Map<Integer, Region> regions = new HashMap<>();
    for (int i = 0; i < regionCount; i++) {
      regions.put(i, new Region(i, 1 << 20, 0, 0));
    }
    registration =
        new Registration(
            client,
            new DatanodeDescription(
                uuid,
                "tcp",
                InetSocketAddress.createUnresolved("10.1.2.3", 50020),
                3,
                TRAITS,
                regions),
            new ScriptedFencer(),
            KEEP_ALIVE.toNanos(),
            () -> impaired,
            kept,
            () -> statistics,
            () -> {});
  }

  /** What the next process knows. */
  private static final class ScriptedKept implements LastingBytes {
    private final Map<Integer, Lending> lendings = new TreeMap<>();
    private long start;

    @Override
    public UUID keeper() {
      return new UUID(7, 7);
    }

    @Override
    public long start() {
      return start;
    }

    @Override
    public Lending lending(int region) {
      return lendings.get(region);
    }

    @Override
    public void lend(int region, Lending lending) {
      lendings.put(region, lending);
    }

    @Override
    public void discard() {
      throw new AssertionError();
    }
  }

  /** It knows to whom the process before it has lent its regions. */
  @Test
  void theNextProcessFencesWhatTheOneBeforeWouldHaveFenced() throws IOException {
    kept = new ScriptedKept();
    kept.start = 1;
    start(1, 3);
    ScriptedNamenode namenode = namenodes.get(0);
    namenode.listen();
    pass(Duration.ofSeconds(1));
    assertEquals(1, namenode.start);
    assertEquals(Set.of(0, 1, 2), kept.lendings.keySet());

    kept.start = 2;
    register(3);
    pass(Duration.ofSeconds(1));
    assertTrue(registration.isRegistered());
    assertEquals(2, namenode.start);
    assertEquals(Map.of(), fences, "the namenode knows who has had its space");
    assertEquals(Map.of(0, 0L, 1, 0L, 2, 0L), namenode.generations);
    assertFalse(namenode.registered.lentBefore());

    kept.lendings.remove(1);
    kept.lendings.put(2, new LastingBytes.Lending(-1, -1, 0));
    register(3);
    pass(Duration.ofSeconds(1));
    assertEquals(Map.of(2, 100L), fences, "others may have had it");
    assertTrue(namenode.registered.lentBefore());

    namenode.forget();
    register(3);
    pass(Duration.ofSeconds(1));
    assertEquals(Map.of(0, 100L, 1, 100L, 2, 200L), fences);
  }

  /** A writer that is stopped in mapped memory outlives the process that has fenced its region. */
  @Test
  void theNextProcessWaitsForTheWriterThatTheOneBeforeHasWaitedFor() throws IOException {
    kept = new ScriptedKept();
    kept.start = 1;
    start(1, 2);
    ScriptedNamenode namenode = namenodes.get(0);
    namenode.listen();
    pass(Duration.ofSeconds(1));
    unquiet.add(1);
    namenode.forget();
    pass(Duration.ofSeconds(10));
    assertEquals(Set.of(0), namenode.regions);

    kept.start = 2;
    register(2);
    pass(Duration.ofSeconds(10));
    assertEquals(2, namenode.start);
    assertEquals(Set.of(0), namenode.regions, "its writer may continue");
    assertEquals(Map.of(0, 100L, 1, 200L), fences);
    unquiet.clear();
    pass(KEEP_ALIVE.multipliedBy(2));
    assertEquals(Map.of(0, 100L, 1, 200L), namenode.generations);

    kept.start = 3;
    unquiet.add(1);
    register(2);
    pass(Duration.ofSeconds(1));
    assertTrue(registration.isRegistered(), "a writer in lent space does not hold it up");
    assertEquals(Map.of(0, 100L, 1, 200L), fences);
  }

  /** Fences regions with new generations. */
  private final class ScriptedFencer implements Fencer {
    @Override
    public void beforeFences(List<Integer> regions) {
      announced.add(regions);
    }

    @Override
    public Fence fence(int region) {
      long generation = fences.merge(region, 100L, Long::sum);
      return new Fence(generation, new Region(region, 1 << 20, 0, generation));
    }

    @Override
    public boolean isQuiet(int region) {
      return !unquiet.contains(region);
    }

    @Override
    public BooleanSupplier cutOff(List<Long> clients) {
      cutOffs.add(clients);
      return () -> !cutOffsWait;
    }
  }

  private void pass(Duration span) {
    long end = network.clock().nanoTime() + span.toNanos();
    while (network.clock().nanoTime() < end) {
      registration.step(network.clock().nanoTime());
      network.runFor(Duration.ofMillis(5));
    }
  }

  @Test
  void regionsGoRoundRobinToAllNamenodes() throws IOException {
    start(3, 8);
    namenodes.forEach(ScriptedNamenode::listen);
    assertFalse(registration.isRegistered());
    pass(Duration.ofSeconds(1));
    assertTrue(registration.isRegistered());
    assertEquals(Set.of(0, 3, 6), namenodes.get(0).regions);
    assertEquals(Set.of(1, 4, 7), namenodes.get(1).regions);
    assertEquals(Set.of(2, 5), namenodes.get(2).regions);
    assertEquals(uuid.getMostSignificantBits(), namenodes.get(1).registered.uuidHigh());
    assertEquals("10.1.2.3", namenodes.get(1).registered.host().toString());
    assertEquals(50020, namenodes.get(1).registered.port());
    assertEquals(3, namenodes.get(1).registered.storageClass());
    assertEquals(TRAITS, namenodes.get(1).registered.traits());
  }

  @Test
  void aSignOfLifeComesOncePerInterval() throws IOException {
    start(1, 1);
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(1));
    int before = namenodes.get(0).keepAlives;
    pass(Duration.ofSeconds(60));
    int sent = namenodes.get(0).keepAlives - before;
    assertTrue(sent >= 28 && sent <= 30, () -> sent + " signs of life in 30 intervals");
  }

  @Test
  void namenodesMayComeLaterAndOneDoesNotHoldUpTheOthers() throws IOException {
    start(2, 2);
    namenodes.get(1).listen();
    pass(Duration.ofSeconds(60));
    assertFalse(registration.isRegistered());
    assertEquals(Set.of(1), namenodes.get(1).regions);
    assertTrue(namenodes.get(1).keepAlives > 25);
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(5));
    assertTrue(registration.isRegistered());
  }

  @Test
  void aRestartedNamenodeIsRegisteredWithAgain() throws IOException {
    start(2, 4);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    for (int i = 0; i < 5; i++) {
      ScriptedNamenode namenode = namenodes.get(network.random().nextInt(2));
      namenode.stop();
      pass(Duration.ofMillis(network.random().nextInt(30_000)));
      namenode.forget();
      namenode.listen();
      pass(Duration.ofSeconds(6));
      assertEquals(2, namenode.regions.size(), "after restart " + i);
      assertTrue(registration.isRegistered());
    }
  }

  /** One namenode's word is nothing to the other ones. */
  @Test
  void remindsARestartedNamenodeOfTheRemoval() throws IOException {
    start(2, 4);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    assertFalse(namenodes.get(0).registered.draining());
    namenodes.get(0).draining = true;
    pass(Duration.ofSeconds(3));
    namenodes.forEach(ScriptedNamenode::forget);
    pass(Duration.ofSeconds(3));
    assertTrue(registration.isRegistered());
    assertTrue(namenodes.get(0).registered.draining());
    assertFalse(namenodes.get(1).registered.draining());
  }

  @Test
  void namenodesHearHowManyBytesClientsHaveMoved() throws IOException {
    start(1, 1);
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(5));
    assertEquals(List.of(-1L, -1L), namenodes.get(0).moved, "it does not know");
    statistics = Optional.of(new StorageServer.Statistics(0, 1, 4096, 2, 8192));
    pass(Duration.ofSeconds(5));
    assertEquals(List.of(4096L, 8192L), namenodes.get(0).moved);
  }

  /** It does not wait for the next sign of life, which is due two seconds after the last one. */
  @Test
  void reportsALostTargetAndItsReturnAtOnce() throws IOException {
    start(2, 4);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    for (int i = 0; i < 4; i++) {
      impaired = !impaired;
      int before = namenodes.get(0).keepAlives;
      pass(Duration.ofMillis(100));
      assertEquals(impaired, namenodes.get(0).impaired);
      assertEquals(impaired, namenodes.get(1).impaired);
      assertEquals(before + 1, namenodes.get(0).keepAlives, "it is said once");
      pass(Duration.ofMillis(1_000));
    }
    impaired = true;
    pass(Duration.ofSeconds(3));
    namenodes.get(0).forget();
    namenodes.get(0).impaired = false;
    // The next sign of life is refused.
    while (namenodes.get(0).regions.size() < 2) {
      pass(Duration.ofMillis(5));
    }
    pass(Duration.ofMillis(100));
    assertTrue(namenodes.get(0).impaired, "a restarted namenode does not know");
  }

  @Test
  void reportsAgainToANamenodeThatForgot() throws IOException {
    start(1, 2);
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(1));
    namenodes.get(0).forget();
    pass(Duration.ofSeconds(3));
    assertEquals(Set.of(0, 1), namenodes.get(0).regions);
    assertTrue(registration.isRegistered());
  }

  @Test
  void aRegionThatIsStillBeingWrittenIsLentLater() throws IOException {
    start(1, 4);
    ScriptedNamenode namenode = namenodes.get(0);
    namenode.listen();
    unquiet.addAll(Set.of(0, 2));
    pass(Duration.ofSeconds(1));
    assertEquals(Set.of(0, 1, 2, 3), namenode.regions, "no namenode had them before");
    namenode.forget();
    pass(Duration.ofMinutes(2));
    assertEquals(Set.of(1, 3), namenode.regions);
    assertFalse(registration.isRegistered());
    int before = namenode.keepAlives;
    pass(Duration.ofSeconds(60));
    assertTrue(namenode.keepAlives - before >= 28, "the datanode seems to be silent");
    unquiet.remove(2);
    pass(KEEP_ALIVE.multipliedBy(2));
    assertEquals(Set.of(1, 2, 3), namenode.regions);
    // A restarted namenode begins anew.
    namenode.forget();
    pass(Duration.ofSeconds(10));
    assertEquals(Set.of(1, 2, 3), namenode.regions);
    unquiet.clear();
    pass(KEEP_ALIVE.multipliedBy(2));
    assertEquals(Set.of(0, 1, 2, 3), namenode.regions);
    assertTrue(registration.isRegistered());
    assertEquals(Map.of(0, 200L, 1, 200L, 2, 200L, 3, 200L), namenode.generations);
  }

  @Test
  void slowAnswersAndPartitionsArePatientlyBorne() throws IOException {
    start(1, 2);
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(1));
    network.partition("datanode", "namenode-0");
    pass(Duration.ofMinutes(10));
    network.heal("datanode", "namenode-0");
    int before = namenodes.get(0).keepAlives;
    pass(Duration.ofSeconds(10));
    assertTrue(namenodes.get(0).keepAlives > before);
    assertTrue(registration.isRegistered());
  }

  @Test
  void connectionsThatBreakAllTheTimeDoNotEndIt() throws IOException {
    start(2, 6);
    network.breakConnections(0.2);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofMinutes(5));
    network.breakConnections(0);
    pass(Duration.ofSeconds(10));
    assertTrue(registration.isRegistered());
    assertEquals(Set.of(0, 2, 4), namenodes.get(0).regions);
    assertEquals(Set.of(1, 3, 5), namenodes.get(1).regions);
  }

  @Test
  void aRegionThatWasLentIsFencedOncePerNamenode() throws IOException {
    start(2, 4);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    assertEquals(Map.of(0, 0L, 2, 0L), namenodes.get(0).generations);
    assertEquals(Map.of(), fences);
    for (long restart = 1; restart <= 3; restart++) {
      // Requests and answers get lost. Only regions that are lent again begin with a fence.
      network.breakConnections(0.2);
      namenodes.get(0).forget();
      pass(Duration.ofMinutes(2));
      network.breakConnections(0);
      pass(Duration.ofSeconds(10));
      assertTrue(registration.isRegistered());
      assertEquals(Map.of(0, 100 * restart, 2, 100 * restart), fences);
      // All regions at once, since a fence may close every client's connection.
      assertEquals(Collections.nCopies((int) restart, List.of(0, 2)), announced);
      assertEquals(fences, namenodes.get(0).generations);
      assertEquals(fences, namenodes.get(0).keys);
    }
    assertEquals(Map.of(1, 0L, 3, 0L), namenodes.get(1).generations);
  }

  @Test
  void anUnansweredRegistrationCountsAsLent() throws IOException {
    start(1, 1);
    namenodes.get(0).loses = true;
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(10));
    assertFalse(registration.isRegistered());
    namenodes.get(0).stop();
    namenodes.get(0).forget();
    namenodes.get(0).loses = false;
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(10));
    assertTrue(registration.isRegistered());
    assertEquals(Map.of(0, 100L), namenodes.get(0).generations);
  }

  @Test
  void aRefusalIsAskedAgainWithAPause() throws IOException {
    start(1, 1);
    namenodes.get(0).refusal = ErrorCode.ADDRESS_TAKEN;
    namenodes.get(0).listen();
    pass(Duration.ofSeconds(60));
    assertFalse(registration.isRegistered());
    int asked = namenodes.get(0).registrations;
    assertTrue(asked > 20 && asked < 45, () -> "asked " + asked + " times in a minute");
    namenodes.get(0).refusal = ErrorCode.OK;
    pass(Duration.ofSeconds(5));
    assertTrue(registration.isRegistered());
  }

  @Test
  void aRefusalForGoodEndsItWithTheNamenodesText() throws IOException {
    start(2, 2);
    namenodes.get(0).refusal = ErrorCode.INVALID_ARGUMENT;
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(60));
    assertFalse(registration.isRegistered());
    assertEquals(1, namenodes.get(0).registrations);
    assertEquals(
        "invalid argument: namenode namenode-0:9060 refuses this datanode: no",
        registration.refusal().getMessage());
  }

  @Test
  void aRefusalEndsNoDatanodeThatOthersHaveDataOn() throws IOException {
    start(2, 2);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    namenodes.get(0).refusal = ErrorCode.INVALID_ARGUMENT;
    namenodes.get(0).forget();
    pass(Duration.ofSeconds(60));
    assertNull(registration.refusal());
    int before = namenodes.get(1).keepAlives;
    namenodes.get(0).refusal = ErrorCode.OK;
    pass(Duration.ofSeconds(5));
    assertTrue(registration.isRegistered());
    assertTrue(namenodes.get(1).keepAlives > before);
  }

  @Test
  void cutsOffTheNamedClientsAndReportsItAtOnce() throws IOException {
    start(2, 2);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    ScriptedNamenode namenode = namenodes.get(0);
    namenode.cutOff = 7;
    namenode.clients = List.of(11L, 12L);
    int before = namenode.keepAlives;
    Duration passed = Duration.ZERO;
    while (namenode.keepAlives == before && passed.compareTo(KEEP_ALIVE.multipliedBy(2)) < 0) {
      pass(Duration.ofMillis(10));
      passed = passed.plusMillis(10);
    }
    pass(Duration.ofMillis(50));
    assertEquals(7, namenode.haveCutOff, "said with the next sign of life, or later");
    assertEquals(before + 2, namenode.keepAlives);
    // The same answer again and again.
    pass(Duration.ofSeconds(30));
    assertEquals(List.of(List.of(11L, 12L)), cutOffs);
    assertEquals(0, namenodes.get(1).haveCutOff);
    namenode.cutOff = 8;
    namenode.clients = List.of(11L);
    pass(Duration.ofSeconds(5));
    assertEquals(8, namenode.haveCutOff);
    assertEquals(List.of(List.of(11L, 12L), List.of(11L)), cutOffs);
  }

  @Test
  void reportsASlowCutOffOnlyWhenComplete() throws IOException {
    start(2, 2);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    cutOffsWait = true;
    namenodes.get(1).cutOff = 3;
    namenodes.get(1).clients = List.of(5L);
    int before = namenodes.get(1).keepAlives;
    pass(Duration.ofSeconds(60));
    assertEquals(0, namenodes.get(1).haveCutOff);
    assertEquals(List.of(List.of(5L)), cutOffs);
    assertTrue(namenodes.get(1).keepAlives - before >= 28, "the datanode seems to be silent");
    cutOffsWait = false;
    pass(Duration.ofMillis(100));
    assertEquals(3, namenodes.get(1).haveCutOff);
  }

  @Test
  void lostAnswersAndRequestsCutOffEachClientOnce() throws IOException {
    start(1, 1);
    ScriptedNamenode namenode = namenodes.get(0);
    namenode.listen();
    pass(Duration.ofSeconds(1));
    network.breakConnections(0.2);
    for (long number = 1; number <= 10; number++) {
      namenode.clients = List.of(number);
      namenode.cutOff = number;
      namenode.losesAnswers = true;
      pass(Duration.ofMillis(network.random().nextInt(8000)));
      namenode.losesAnswers = false;
      for (int i = 0; i < 600 && namenode.haveCutOff != number; i++) {
        pass(Duration.ofMillis(100));
      }
      assertEquals(number, namenode.haveCutOff);
      assertEquals(number, cutOffs.size());
      assertEquals(List.of(number), cutOffs.get((int) number - 1));
    }
  }

  @Test
  void reportsNoFormerCutOffToANamenodeThatForgot() throws IOException {
    start(1, 1);
    ScriptedNamenode namenode = namenodes.get(0);
    namenode.listen();
    pass(Duration.ofSeconds(1));
    namenode.cutOff = 1;
    namenode.clients = List.of(5L);
    pass(Duration.ofSeconds(5));
    assertEquals(1, namenode.haveCutOff);
    // The next namenode counts from the beginning.
    namenode.cutOff = 0;
    namenode.clients = List.of();
    namenode.haveCutOff = -1;
    namenode.forget();
    pass(Duration.ofSeconds(10));
    assertEquals(0, namenode.haveCutOff);
    namenode.cutOff = 1;
    namenode.clients = List.of(6L);
    pass(Duration.ofSeconds(5));
    assertEquals(1, namenode.haveCutOff);
    assertEquals(List.of(List.of(5L), List.of(6L)), cutOffs);
  }

  @Test
  void silenceBeginsWithTheFirstStep() throws IOException {
    start(1, 1);
    network.runFor(Duration.ofHours(1));
    long begin = network.clock().nanoTime();
    assertEquals(0, registration.registrations(begin).get(0).silentNanos());
    registration.step(begin);
    assertEquals(7, registration.registrations(begin + 7).get(0).silentNanos());
  }

  @Test
  void itEndsWhenAllNamenodesSaySo() throws IOException {
    start(2, 2);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    namenodes.get(0).stop = true;
    pass(Duration.ofSeconds(5));
    assertFalse(registration.isRemoved());
    assertEquals(
        List.of(RegistrationStatus.State.REMOVED, RegistrationStatus.State.REGISTERED),
        registration.registrations(network.clock().nanoTime()).stream()
            .map(s -> s.state())
            .toList());
    namenodes.get(1).stop = true;
    pass(Duration.ofSeconds(5));
    assertTrue(registration.isRemoved());
  }

  /** It lives on while another namenode needs it, so that a drain can be cancelled everywhere. */
  @Test
  void aNamenodeMayChangeItsMind() throws IOException {
    start(2, 2);
    namenodes.forEach(ScriptedNamenode::listen);
    pass(Duration.ofSeconds(1));
    namenodes.get(0).stop = true;
    pass(Duration.ofSeconds(5));
    int before = namenodes.get(0).keepAlives;
    pass(Duration.ofSeconds(5));
    assertTrue(namenodes.get(0).keepAlives > before, "a datanode that was let go says nothing");
    namenodes.get(0).stop = false;
    pass(Duration.ofSeconds(5));
    assertEquals(
        List.of(RegistrationStatus.State.REGISTERED, RegistrationStatus.State.REGISTERED),
        registration.registrations(network.clock().nanoTime()).stream()
            .map(s -> s.state())
            .toList());
  }

  /** A namenode that knows at most one datanode. */
  private final class ScriptedNamenode implements Service {
    private final int index;
    private final int count;
    private final InetSocketAddress address;
    private final Set<Integer> regions = new TreeSet<>();
    private final Map<Integer, Long> generations = new TreeMap<>();
    private final Map<Integer, Long> keys = new TreeMap<>();
    private ServerEndpoint endpoint;
    private RegisterDatanode.Description registered;
    private long start;
    private ErrorCode refusal = ErrorCode.OK;
    private boolean stop;
    private boolean draining;
    private boolean impaired;
    private List<Long> moved;
    // Whether it loses its answers to regions.
    private boolean loses;
    // Whether it loses its answers to heartbeats.
    private boolean losesAnswers;
    private long answers;
    private long cutOff;
    private List<Long> clients = List.of();
    private long haveCutOff;
    private int id;
    private int registrations;
    private int keepAlives;

    ScriptedNamenode(int index, int count) {
      this.index = index;
      this.count = count;
      this.id = index;
      this.address = InetSocketAddress.createUnresolved("namenode-" + index, 9060);
    }

    void listen() {
      try {
        endpoint = network.transport(address.getHostString()).listen("namenode", address, this);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    void stop() {
      if (endpoint != null) {
        endpoint.close();
        endpoint = null;
      }
    }

    /** As after a restart: it knows no datanode, and never reuses an id. */
    void forget() {
      registered = null;
      regions.clear();
      id += count;
    }

    @Override
    public void serve(RequestBatch batch, ResponseWriter responses) {
      for (int i = 0; i < batch.count(); i++) {
        try {
          serve(batch, i, responses);
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }

    private void serve(RequestBatch batch, int i, ResponseWriter responses) throws IOException {
      int opcode = batch.opcode(i);
      if (opcode == NameNodeOperations.HELLO.number()) {
        answer(
            batch,
            i,
            responses,
            Hello.Response.CODEC,
            new Hello.Response(
                Frame.VERSION,
                index,
                count,
                1 << 20,
                4096,
                0,
                false,
                10_000,
                1,
                0,
                Utf8.of("crail")));
      } else if (opcode == NameNodeOperations.REGISTER_DATANODE.number()) {
        registrations++;
        if (refusal != ErrorCode.OK) {
          responses.fail(batch.correlationId(i), refusal, "no");
          return;
        }
        RegisterDatanode.Request request = read(batch, i, RegisterDatanode.Request.CODEC);
        registered = request.description();
        start = request.start();
        answer(
            batch,
            i,
            responses,
            RegisterDatanode.Response.CODEC,
            new RegisterDatanode.Response(id));
      } else if (opcode == NameNodeOperations.REGISTER_REGION.number()) {
        RegisterRegion.Request request = read(batch, i, RegisterRegion.Request.CODEC);
        assertEquals(start, request.start());
        if (isKnown(batch, i, responses, request.datanode())) {
          regions.add(request.index());
          generations.put(request.index(), request.generation());
          keys.put(request.index(), request.key());
          if (loses) {
            return;
          }
          answer(
              batch, i, responses, RegisterRegion.Response.CODEC, new RegisterRegion.Response(1));
        }
      } else {
        assertEquals(NameNodeOperations.KEEP_ALIVE.number(), opcode);
        KeepAlive.Request request = read(batch, i, KeepAlive.Request.CODEC);
        if (isKnown(batch, i, responses, request.datanode())) {
          keepAlives++;
          impaired = request.impaired();
          moved = List.of(request.readBytes(), request.writtenBytes());
          haveCutOff = request.cutOff();
          if (losesAnswers) {
            return;
          }
          answer(
              batch,
              i,
              responses,
              KeepAlive.Response.CODEC,
              new KeepAlive.Response(stop, draining, 1, 1, ++answers, cutOff, clients));
        }
      }
    }

    private boolean isKnown(RequestBatch batch, int i, ResponseWriter responses, int datanode) {
      boolean known = registered != null && datanode == id;
      if (!known) {
        responses.fail(batch.correlationId(i), ErrorCode.UNKNOWN_DATANODE, "" + datanode);
      }
      return known;
    }

    private static <T> T read(RequestBatch batch, int i, Codec<T> codec) throws IOException {
      return codec.decode(batch.buffer(), batch.bodyOffset(i), batch.bodyLength(i));
    }

    private static <T> void answer(
        RequestBatch batch, int i, ResponseWriter responses, Codec<T> codec, T message) {
      int length = codec.length(message);
      int body = responses.begin(length);
      codec.encode(message, responses.buffer(), body);
      responses.end(batch.correlationId(i), length);
    }
  }
}
