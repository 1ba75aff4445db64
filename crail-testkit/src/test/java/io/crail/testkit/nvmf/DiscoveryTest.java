/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.storage.StorageServer;
import io.crail.storage.nvmf.NvmfStorageKeys;
import io.crail.storage.nvmf.NvmfStorageTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A datanode finds its targets through discovery services, good ones and bad ones. */
@Tag("once")
class DiscoveryTest {
  private static final int MIB = 1 << 20;
  private static final int SECTOR = 512;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final List<NvmeTarget> targets = new ArrayList<>();
  private StorageServer server;

  @AfterEach
  void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    for (NvmeTarget target : targets) {
      assertEquals(List.of(), target.complaints());
    }
  }

  private NvmeTarget target(TargetOptions options) throws IOException {
    NvmeTarget target = new NvmeTarget(options, new TargetNamespace(1, 5 * MIB / SECTOR, SECTOR));
    open.add(target);
    targets.add(target);
    return target;
  }

  private NvmeTarget target(String name) throws IOException {
    return target(new TargetOptions().nqn("nqn.2026-11.io.crail:" + name));
  }

  /** A service; not a target. */
  private NvmeTarget service(Supplier<byte[]> log) throws IOException {
    return target(new TargetOptions().nqn("nqn.none").discovery(log));
  }

  private static String text(NvmeTarget service) {
    return service.text().replace("nqn.none", DiscoveryPage.NQN);
  }

  /** A target as a service describes it. */
  private static String numeric(NvmeTarget target) {
    return target
        .text()
        .replace(target.address().getHostString(), target.address().getAddress().getHostAddress());
  }

  private static Configuration.Builder settings(String list) {
    return Configuration.builder()
        .set(NvmfStorageKeys.TARGETS, list)
        .set(NvmfStorageKeys.CONNECT_TIMEOUT, "1s")
        .set(NvmfStorageKeys.ALLOCATION_SIZE, 4 * MIB);
  }

  private String details(Configuration configuration) throws IOException {
    server = new NvmfStorageTier().createServer(configuration, List.of());
    open.add(server);
    server.start(UUID.randomUUID());
    return server.traits().details().toString();
  }

  private String details(String list) throws IOException {
    return details(settings(list).build());
  }

  private String refusal(Configuration configuration) {
    return assertThrows(IOException.class, () -> details(configuration)).getMessage();
  }

  private String refusal(NvmeTarget service) {
    return refusal(settings(text(service)).build());
  }

  @Test
  void allSubsystemsTakeTheServicesPlace() throws Exception {
    NvmeTarget b = target("b");
    NvmeTarget a = target("a");
    NvmeTarget own = target("own");
    byte[] other = DiscoveryPage.entry(3, 1, 1, "8009", DiscoveryPage.NQN, "10.0.0.9");
    byte[] self = DiscoveryPage.entry(3, 1, 3, "8009", DiscoveryPage.NQN, "10.0.0.9");
    byte[] second = DiscoveryPage.entry(3, 1, 2, "1", a.nqn(), "127.0.0.1");
    byte[] channel = DiscoveryPage.entry(2, 4, 2, "none", "nqn.fc", "nn-0x1:pn-0x2");
    byte[] log =
        DiscoveryPage.log(
            7,
            DiscoveryPage.entry(b),
            other,
            self,
            channel,
            DiscoveryPage.entry(a),
            second,
            DiscoveryPage.entry(own));
    NvmeTarget service = service(() -> log);
    String list = text(service) + "," + own.text() + "#1," + text(service);
    assertEquals("- " + numeric(a) + " " + numeric(b) + " " + own.text() + "#1", details(list));
  }

  private static byte[] entry(String name, int port) {
    return DiscoveryPage.entry(3, 1, 2, "" + port, "nqn.2026-11.io.crail:" + name, "127.0.0.1");
  }

  @Test
  void aWayThatLeadsNowhereIsLeftOut() throws Exception {
    NvmeTarget a = target("a");
    byte[] log =
        DiscoveryPage.log(1, entry("a", 1), DiscoveryPage.entry(a), entry("b", 2), entry("b", 1));
    NvmeTarget service = service(() -> log);
    assertEquals("- " + numeric(a), details(text(service)));
    assertEquals(Optional.empty(), server.failure());
    server.close();
    // What the user has named is missed.
    String named = refusal(settings(text(service) + ",127.0.0.1:1/nqn.c").build());
    assertTrue(named.contains("nqn.c at 127.0.0.1:1"), named);
    byte[] useless = DiscoveryPage.log(1, entry("b", 2), entry("b", 1));
    String nothing = refusal(service(() -> useless));
    assertTrue(nothing.contains(":b at 127.0.0.1:2"), nothing);
  }

  @Test
  void theOrderOfTheLogDoesNotDecideWhichWayIsTaken() throws Exception {
    byte[] one = DiscoveryPage.entry(target("a"));
    byte[] other = DiscoveryPage.entry(target("a"));
    String first = details(text(service(() -> DiscoveryPage.log(1, one, other))));
    server.close();
    assertEquals(first, details(text(service(() -> DiscoveryPage.log(1, other, one)))));
  }

  @Test
  void aNameMayLookLikeATransport() throws Exception {
    NvmeTarget target = target("http://a");
    assertEquals("- " + target.text(), details(target.text()));
  }

  @Test
  void aHostNeedsAName() throws Exception {
    NvmeTarget target = target("a");
    Configuration.Builder builder = settings(target.text());
    for (String bad : List.of("n".repeat(600), "n".repeat(224), "nqn a")) {
      Configuration configuration = builder.set(NvmfStorageKeys.HOST_NQN, bad).build();
      String refusal =
          assertThrows(ConfigException.class, () -> details(configuration)).getMessage();
      assertTrue(refusal.contains("'crail.storage.nvmf.hostnqn' has "), refusal);
    }
    assertEquals(
        "- " + target.text(),
        details(builder.set(NvmfStorageKeys.HOST_NQN, "n".repeat(223)).build()));
  }

  @Test
  void fewThreadsComputeForManyTargets() throws Exception {
    List<String> list = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      TargetOptions options = new TargetOptions().nqn("nqn." + i);
      list.add(target(options.secrets(AuthenticationTest.SECRET, "").chooses(1, 4)).text());
    }
    AtomicBoolean stopped = new AtomicBoolean();
    AtomicLong most = new AtomicLong();
    Thread counter =
        new Thread(
            () -> {
              while (!stopped.get()) {
                most.accumulateAndGet(computing(), Math::max);
              }
            });
    counter.start();
    try {
      details(
          settings(String.join(",", list))
              .set(NvmfStorageKeys.CONNECT_TIMEOUT, "20s")
              .set(NvmfStorageKeys.SECRET, AuthenticationTest.SECRET)
              .build());
    } finally {
      stopped.set(true);
      counter.join();
    }
    int allowed = Runtime.getRuntime().availableProcessors();
    assertTrue(most.get() >= 1 && most.get() <= allowed, most + " threads");
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (computing() > 0) {
      assertTrue(System.nanoTime() - end < 0, "the threads stay");
      Thread.onSpinWait();
    }
  }

  private static long computing() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("crail-nvmf-authentication"))
        .count();
  }

  @Test
  void manyEntriesAreReadInParts() throws Exception {
    NvmeTarget target = target("last");
    byte[][] entries = new byte[1000][];
    Arrays.fill(entries, DiscoveryPage.entry(3, 1, 1, "8009", DiscoveryPage.NQN, "10.0.0.9"));
    entries[999] = DiscoveryPage.entry(target);
    byte[] log = DiscoveryPage.log(1, entries);
    assertEquals("- " + numeric(target), details(text(service(() -> log))));
    byte[] long1 = DiscoveryPage.log(1, new byte[1001][1024]);
    String refusal = refusal(service(() -> long1));
    assertTrue(refusal.contains("has 1001 entries; the most are 1000"), refusal);
  }

  @Test
  void aLogThatChangesIsReadAgain() throws Exception {
    NvmeTarget before = target("before");
    NvmeTarget after = target("after");
    AtomicInteger reads = new AtomicInteger();
    NvmeTarget service =
        service(
            () ->
                reads.getAndIncrement() < 2
                    ? DiscoveryPage.log(1, DiscoveryPage.entry(before))
                    : DiscoveryPage.log(2, DiscoveryPage.entry(after)));
    assertEquals("- " + numeric(after), details(text(service)));
    AtomicInteger generation = new AtomicInteger();
    byte[] entry = DiscoveryPage.entry(before);
    NvmeTarget restless = service(() -> DiscoveryPage.log(generation.incrementAndGet(), entry));
    assertTrue(refusal(restless).contains("has changed 10 times"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "3|1|2|0|nqn.a|127.0.0.1|a port",
        "3|1|2|65536|nqn.a|127.0.0.1|a port",
        "3|1|2|-1|nqn.a|127.0.0.1|a port",
        "3|1|2|x|nqn.a|127.0.0.1|a port",
        "3|1|2|4420||127.0.0.1|whose name has 0 bytes",
        "3|1|2|4420|nqn a|127.0.0.1|whose name has a space",
        "3|1|2|4420|nqn#1|127.0.0.1|whose name has a #",
        "3|1|2|4420|nqn.\u2028a#1|127.0.0.1|whose name has a space",
        "3|1|2|4420|nqn.\u0085a|127.0.0.1|whose name has a space",
        "3|1|2|4420|nqn.\u009ba|127.0.0.1|whose name has a space",
        "3|1|2|4420|nqn.\u2029a|127.0.0.1|whose name has a space",
        "3|1|2|4420|nqn.\ufffda|127.0.0.1|whose name has a # or is not UTF-8",
        "3|1|2|4420|nqn.a|localhost|an address",
        "3|1|2|4420|nqn.a|127.0.0.256|an address",
        "3|1|2|4420|nqn.a|1.2|an address",
        "3|1|2|4420|nqn.a||an address",
        "3|1|2|4420|nqn.a|::1|an address",
        "3|1|2|4420|nqn.a|0.0.0.0|an address",
        "3|2|2|4420|nqn.a|127.0.0.1|an address",
        "3|2|2|4420|nqn.a|:::|an address",
        "3|2|2|4420|nqn.a|::|an address",
        "3|2|2|4420|nqn.a|fe80::1%lo|an address",
        "3|2|2|4420|nqn.a|.:ab.cd|an address",
        "3|3|2|4420|nqn.a|127.0.0.1|an address",
        "9|1|2|4420|nqn.a|127.0.0.1|over transport 9",
        "3|1|7|4420|nqn.a|127.0.0.1|of kind 7",
        "3|1|2|4420|nqn.2014-08.org.nvmexpress.discovery|127.0.0.1|a discovery service"
      })
  void anEntryThatMakesNoSenseIsNotUsed(
      int transport, int family, int kind, String port, String nqn, String address, String why)
      throws Exception {
    byte[] entry =
        DiscoveryPage.entry(
            transport, family, kind, port, nqn == null ? "" : nqn, address == null ? "" : address);
    String refusal = refusal(service(() -> DiscoveryPage.log(1, entry)));
    assertTrue(refusal.contains("no subsystem that can be used, but "), refusal);
    assertTrue(refusal.contains(why), refusal);
    assertTrue(refusal.contains(DiscoveryPage.NQN), refusal);
  }

  @Test
  void aSecureChannelIsNotUsed() throws Exception {
    byte[] entry = DiscoveryPage.entry(3, 1, 2, "4420", "nqn.a", "127.0.0.1");
    entry[3] = 1;
    String refusal = refusal(service(() -> DiscoveryPage.log(1, entry)));
    assertTrue(refusal.contains("nqn.a over a secure channel"), refusal);
  }

  @Test
  void unknownServicesAreRefused() throws Exception {
    String empty = refusal(service(() -> DiscoveryPage.log(1)));
    assertTrue(empty.endsWith("no subsystem that can be used"), empty);
    byte[] format = DiscoveryPage.log(1);
    format[16] = 1;
    assertTrue(refusal(service(() -> format)).contains("unknown format 1"));
    byte[] negative = DiscoveryPage.log(1);
    negative[15] = (byte) 0x80;
    assertTrue(refusal(service(() -> negative)).contains("the most are 1000"));
    NvmeTarget target = target("none");
    String list = target.text().replace(target.nqn(), DiscoveryPage.NQN);
    String none = refusal(settings(list).build());
    assertTrue(none.contains("no such subsystem"), none);
    target.down();
    String down = refusal(settings(list).build());
    assertTrue(down.contains("refused") && down.contains(DiscoveryPage.NQN), down);
    target.up();
    ConfigException wrong =
        assertThrows(ConfigException.class, () -> settings(list + "#1").build());
    assertTrue(wrong.getMessage().contains("has no namespaces"), wrong.getMessage());
  }

  @Test
  void garbageIsRefused() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 10; i++) {
      byte[] log = new byte[9 * 1024];
      random.nextBytes(log);
      if (i % 2 == 0) {
        // The head makes sense.
        System.arraycopy(DiscoveryPage.log(1, new byte[8][1024]), 0, log, 0, 18);
      }
      assertFalse(refusal(service(() -> log)).isBlank());
    }
  }

  /** In each command. */
  @ParameterizedTest
  @EnumSource(Fate.class)
  void aBadAnswerEndsInTime(Fate fate) throws Exception {
    byte[] useless = DiscoveryPage.entry(2, 4, 2, "none", "nqn.fc", "nn-0x1:pn-0x2");
    byte[] log = DiscoveryPage.log(1, useless, useless);
    NvmeTarget service = service(() -> log);
    // It loses count of what it answers wrongly.
    targets.remove(service);
    Configuration hasty =
        settings(text(service)).set(NvmfStorageKeys.CONNECT_TIMEOUT, "200ms").build();
    for (int bad = 0; bad < 8; bad++) {
      int number = bad;
      service.plan((queue, opcode, count) -> count == number ? fate : Fate.NORMAL);
      assertFalse(refusal(hasty).isBlank());
    }
    service.plan((queue, opcode, count) -> Fate.NORMAL);
    assertTrue(refusal(hasty).contains("no subsystem that can be used"));
  }

  /** The service need not prove itself; the subsystem does. The secret is never sent. */
  @Test
  void secretsOfTheConfigurationReachServicesAndTargets(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("secret"), AuthenticationTest.SECRET + "\n");
    TargetOptions guarded =
        new TargetOptions().secrets(AuthenticationTest.SECRET, AuthenticationTest.BOUND_SECRET);
    NvmeTarget target = target(guarded);
    byte[] log = DiscoveryPage.log(1, DiscoveryPage.entry(target));
    NvmeTarget plain = service(() -> log);
    assertTrue(refusal(plain).contains("crail.storage.nvmf.secret is not set"), refusal(plain));
    Configuration.Builder builder =
        settings(text(plain))
            .set(NvmfStorageKeys.SECRET, "file:" + file)
            .set(NvmfStorageKeys.CONTROLLER_SECRET, AuthenticationTest.BOUND_SECRET);
    assertEquals("- " + numeric(target), details(builder.build()));
    StorageServer first = server;
    TargetOptions cautious = new TargetOptions().nqn("nqn.none").discovery(() -> log);
    NvmeTarget asking = target(cautious.secrets(AuthenticationTest.SECRET, ""));
    assertTrue(refusal(asking).contains("crail.storage.nvmf.secret is not set"));
    builder.set(NvmfStorageKeys.TARGETS, text(asking));
    first.close();
    assertEquals("- " + numeric(target), details(builder.build()));
    builder.set(NvmfStorageKeys.CONTROLLER_SECRET, AuthenticationTest.SECRET);
    String wrong = refusal(builder.build());
    assertTrue(wrong.contains("has not proved"), wrong);
    builder.set(NvmfStorageKeys.SECRET, "DHHC-1:00:AAAA:");
    String bad = assertThrows(ConfigException.class, builder::build).getMessage();
    assertTrue(bad.contains("'(secret)'") && !bad.contains("AAAA"), bad);
    Configuration half = builder.set(NvmfStorageKeys.SECRET, "").build();
    assertThrows(ConfigException.class, () -> details(half));
    // The key is there, and its file was emptied.
    Files.writeString(file, "\n" + AuthenticationTest.SECRET + "\n");
    Configuration emptied = builder.set(NvmfStorageKeys.SECRET, "file:" + file).build();
    String empty = assertThrows(ConfigException.class, () -> details(emptied)).getMessage();
    assertTrue(empty.contains("'crail.storage.nvmf.secret' has the bad value 'file:"), empty);
    assertTrue(empty.contains("first line is empty"), empty);
  }
}
