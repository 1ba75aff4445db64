/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.report.JsonInput;
import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.namenode.NameNode;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.TreeWriter;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.SetShare;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.Remove;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.tool.Ran;
import io.crail.tool.command.ExitCode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@code crail fsck} says of two namenodes in this process that are damaged by hand. They have
 * no timer, so nothing ends by itself.
 */
@Timeout(300)
class FsckCommandTest {
  private static final int BLOCK = 1 << 20;
  private static final long TOKEN = 9;

  private static final class MovedClock implements Clock {
    private final AtomicLong movedMillis = new AtomicLong();

    @Override
    public long nanoTime() {
      return System.nanoTime() + movedMillis.get() * 1_000_000;
    }

    @Override
    public long currentTimeMillis() {
      return System.currentTimeMillis() + movedMillis.get();
    }
  }

  private final MovedClock clock = new MovedClock();
  private final List<NameNodeServer> namenodes = new ArrayList<>();
  private Transport transport;
  private ClientLoop loop;
  private NameNodeClient client;
  private NameNodeClient datanodes;

  @TempDir Path directory;

  @BeforeEach
  void start() throws Exception {
    Configuration conf =
        Configuration.builder()
            .set("crail.lease", "10s", "the test")
            .set("crail.storage.keepalive", "60s", "the test")
            .build();
    transport = TransportProvider.open(conf);
    for (int index = 0; index < 2; index++) {
      namenodes.add(
          NameNodeServer.open(
              conf,
              index,
              2,
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
              transport,
              clock,
              new Random(index)));
    }
    loop = transport.newClientLoop("test");
    client = connect(Hello.ROLE_CLIENT);
    datanodes = connect(Hello.ROLE_DATANODE);
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address "
            + namenodes.stream()
                .map(each -> "crail://" + Addresses.text(each.address()))
                .collect(Collectors.joining(","))
            + "\ncrail.storage.keepalive 100ms\ncrail.datatimeout 2s\ncrail.rpctimeout 2s\n");
  }

  private NameNodeClient connect(int role) {
    return connect(loop, role);
  }

  private NameNodeClient connect(ClientLoop loop, int role) {
    return new NameNodeClient(
        loop,
        namenodes.stream().map(NameNodeServer::address).toList(),
        new NameNodeClient.Identity(role, 0x7700 + role, "host", "crail"),
        RpcPeer.Options.defaults(),
        60_000_000_000L);
  }

  @AfterEach
  void stop() {
    client.close();
    datanodes.close();
    loop.close();
    namenodes.forEach(NameNodeServer::close);
    transport.close();
  }

  private <Q, R> R ask(int index, Operation<Q, R> operation, Q request) throws Exception {
    boolean isDatanode = operation.name().startsWith("register-");
    return (isDatanode ? datanodes : client).callAt(index, operation, request).join();
  }

  private int register(int index, long uuid, int port) throws Exception {
    return register(index, uuid, port, "tcp");
  }

  private int register(int index, long uuid, int port, String tier) throws Exception {
    RegisterDatanode.Request request =
        new RegisterDatanode.Request(
            uuid,
            uuid,
            0,
            port,
            false,
            false,
            Utf8.of(tier),
            Utf8.of("127.0.0.1"),
            TierTraits.ofMemory(FenceKind.GENERATION, true, ""));
    return ask(index, NameNodeOperations.REGISTER_DATANODE, request).datanode();
  }

  private void lend(int index, int datanode, int region, long address) throws Exception {
    ask(
        index,
        NameNodeOperations.REGISTER_REGION,
        new RegisterRegion.Request(datanode, region, 16L * BLOCK, address, 5, 0));
  }

  /** A file of one byte at namenode 0 whose writer goes on. */
  private long open(String name) throws Exception {
    return open(client, 0, pathAt(0, name), 1);
  }

  private static <Q, R> R ask(
      NameNodeClient client, int index, Operation<Q, R> operation, Q request) throws Exception {
    return client.callAt(index, operation, request).join();
  }

  /** A file of one byte, with more space, whose writer goes on. */
  private static long open(NameNodeClient client, int index, String path, int space)
      throws Exception {
    Create.Request create =
        new Create.Request(
            NodeType.DATAFILE,
            true,
            false,
            false,
            0644,
            Create.PARENT_CLASS,
            TOKEN,
            Utf8.of(path),
            Utf8.EMPTY);
    long id = ask(client, index, NameNodeOperations.CREATE, create).node().id();
    ask(client, index, NameNodeOperations.EXTEND, new Extend.Request(id, TOKEN, 0, space, -1));
    ask(
        client,
        index,
        NameNodeOperations.SET_SIZE,
        new SetSize.Request(id, TOKEN, 1, SetSize.KEEP));
    return id;
  }

  private static long write(NameNodeClient client, int index, String path, int space)
      throws Exception {
    long id = open(client, index, path, space);
    SetSize.Request end = new SetSize.Request(id, TOKEN, 1, SetSize.END);
    ask(client, index, NameNodeOperations.SET_SIZE, end);
    return id;
  }

  private long write(String name) throws Exception {
    return write(client, 0, pathAt(0, name), 1);
  }

  private static String pathAtFirst(String name) {
    return pathAt(0, name);
  }

  /** A path with this beginning that belongs to a namenode. */
  private static String pathAt(int index, String name) {
    String path = "/" + name;
    while (NodePath.namenodeOf(Utf8.of(path), 2) != index) {
      path += "x";
    }
    return path;
  }

  private void close(int index) {
    namenodes.remove(index).close();
  }

  private NameNode first() throws Exception {
    Field field = NameNodeServer.class.getDeclaredField("namenode");
    field.setAccessible(true);
    return (NameNode) field.get(namenodes.get(0));
  }

  /** Gives a node other space, without the accounts. */
  private void give(long id, NodeSpace space) throws Exception {
    Node node = first().tree().find(id);
    synchronized (node) {
      new TreeWriter(first().tree()).space(node, space);
    }
  }

  private Ran fsck(int code, String... options) {
    List<String> line = new ArrayList<>(List.of("fsck"));
    line.addAll(List.of(options));
    Ran ran = Ran.run(directory, line.toArray(new String[0]));
    assertEquals(code, ran.code(), ran::toString);
    return ran;
  }

  private Map<?, ?> json(int code) throws Exception {
    return (Map<?, ?>) JsonInput.parse(fsck(code, "--json").stdout());
  }

  /** Each has memory of its own. */
  private void startDatanode() throws Exception {
    for (int index = 0; index < 2; index++) {
      lend(index, register(index, 1, 1001), index, (long) (index + 1) << 30);
    }
  }

  @Test
  void aSoundClusterHasNoFindings() throws Exception {
    startDatanode();
    write("a");
    write("b");
    String text = fsck(0).stdout();
    assertTrue(
        text.endsWith(
            """
            write leases: 0; ended but not yet released: 0; overdue: 0
            2 nodes examined; lost: 0 files (0 B); silent: 0 files (0 B); \
            no space has two owners; accounts are right
            """),
        text);
    assertEquals(List.of(), json(0).get("doubleOwners"));
  }

  @Test
  void wrongSharesOfSpreadDirectoriesAreNamed() throws Exception {
    NamenodeAddresses addresses =
        NamenodeAddresses.of(namenodes.stream().map(NameNodeServer::address).toList());
    namenodes.forEach(each -> each.meet(addresses));
    for (String name : List.of("lacking", "earlier", "sealed", "sound")) {
      spread(pathAt(0, name));
    }
    assertEquals(List.of(), json(0).get("wrongShares"));
    Map<String, ListShares.Share> shares = new HashMap<>();
    ask(client, 1, NameNodeOperations.LIST_SHARES, new ListShares.Request(0))
        .shares()
        .forEach(each -> shares.put(each.path().toString(), each));
    ListShares.Share sound = shares.get(pathAt(0, "sound"));
    ListShares.Share lacking = shares.get(pathAt(0, "lacking"));
    ListShares.Share earlier = shares.get(pathAt(0, "earlier"));
    long start = sound.incarnation();
    NameNodeClient owner = connect(Hello.ROLE_NAMENODE);
    try {
      set(owner, start, lacking.id(), sound.version() + 1, SetShare.GONE, lacking.path());
      set(owner, start, earlier.id(), sound.version() + 2, SetShare.GONE, earlier.path());
      set(owner, start - 1, earlier.id(), sound.version(), SetShare.OPEN, earlier.path());
      ListShares.Share sealed = shares.get(pathAt(0, "sealed"));
      set(owner, start, sealed.id(), sound.version() + 3, SetShare.SEALED, sealed.path());
      set(owner, start, 1000, sound.version() + 4, SetShare.OPEN, Utf8.of("/orphan"));
    } finally {
      owner.close();
    }
    String[] names = new String[2];
    for (int i = 0; i < 2; i++) {
      names[i] = "namenode " + i + " at " + Addresses.text(namenodes.get(i).address());
    }
    String share = names[1] + " has its share of ";
    assertEquals(
        Set.of(
            names[1] + " lacks its share of " + lacking.path() + " of " + names[0],
            share + earlier.path() + " of " + names[0] + " from an earlier start",
            share + pathAt(0, "sealed") + " of " + names[0] + " in another state",
            names[1] + " has a share of /orphan, which " + names[0] + " does not own"),
        new HashSet<>((List<?>) json(1).get("wrongShares")));
    assertTrue(fsck(1).stdout().contains("shares   " + names[1] + " lacks its share of "));
  }

  private void spread(String path) throws Exception {
    Create.Request create =
        new Create.Request(
            NodeType.DIRECTORY,
            true,
            false,
            false,
            0755,
            Create.PARENT_CLASS,
            0,
            Utf8.of(path),
            Utf8.EMPTY);
    ask(client, 0, NameNodeOperations.CREATE_SPREAD, create);
  }

  /** Says a state to namenode 1 as namenode 0 would. */
  private static void set(
      NameNodeClient owner, long start, long id, long version, int state, Utf8 path)
      throws Exception {
    SetShare.Request request =
        new SetShare.Request(
            0,
            start,
            id,
            version,
            state,
            true,
            NodeType.DIRECTORY,
            NodeInfo.ENUMERABLE | NodeInfo.SPREAD,
            0755,
            0,
            0,
            0,
            false,
            false,
            path,
            Utf8.EMPTY,
            Utf8.EMPTY,
            Utf8.EMPTY);
    ask(owner, 1, NameNodeOperations.SET_SHARE, request);
  }

  @Test
  void memoryThatTwoNamenodesHaveIsNamed() throws Exception {
    lend(0, register(0, 1, 1001), 0, 1L << 30);
    lend(1, register(1, 1, 1001), 1, (1L << 30) + 15 * BLOCK);
    String text = fsck(1).stdout();
    assertTrue(
        text.matches(
            "(?s).*owners   namenode 0 at \\S+ and namenode 1 at \\S+ have the same memory,"
                + " as region 0 and 1 of datanode tcp at 127.0.0.1:1001\n.*"
                + "space has two owners; accounts are right\n"),
        text);
    assertEquals(1, ((List<?>) json(1).get("doubleOwners")).size());
  }

  @Test
  void twoDatanodesAtOneAddressAreNamed() throws Exception {
    lend(0, register(0, 1, 1001), 0, 0);
    lend(1, register(1, 2, 1001), 1, 0);
    String text = fsck(1).stdout();
    assertTrue(
        text.matches(
            "(?s).*owners   datanode tcp at 127.0.0.1:1001 is process \\S+1 for namenode 0 at \\S+,"
                + " and \\S+2 for namenode 1 at \\S+\n.*"),
        text);
  }

  /** Two nodes of a namenode get the same extent. */
  @Test
  void anExtentOfTwoFilesIsNamed() throws Exception {
    startDatanode();
    long first = write("first");
    long second = write("second");
    write("third");
    give(second, first().tree().find(first).space());
    String text = fsck(1).stdout();
    assertTrue(
        text.matches(
            "(?s)owners   /\\w+ and /\\w+ both have the space at \\d+ of region 0 of datanode"
                + " 127.0.0.1:1001\n.*space has two owners; .*"),
        text);
    assertTrue(text.contains(pathAtFirst("first") + " "), text);
    assertTrue(text.contains(pathAtFirst("second") + " "), text);
    assertEquals(1, ((List<?>) json(1).get("doubleOwners")).size());
  }

  /** Only the namenode's end of the extent is where another file has its first byte. */
  @Test
  void theSpaceAfterASealHasOneOwnerToo() throws Exception {
    startDatanode();
    long first = write(client, 0, pathAt(0, "first"), 2 * Extent.MIN_LENGTH);
    long second = write("second");
    Allocation large = first().tree().find(first).space().at(0);
    Allocation sealed = large.sealedAt(1);
    long offset = large.place().offset() + Extent.MIN_LENGTH;
    Constructor<Allocation> constructor =
        Allocation.class.getDeclaredConstructor(
            DatanodeSpace.class,
            int.class,
            long.class,
            long.class,
            long.class,
            int.class,
            int.class);
    constructor.setAccessible(true);
    give(first, sealed);
    give(
        second,
        constructor.newInstance(large.datanode(), 0, offset, 0L, 77L, Extent.MIN_LENGTH, 12));
    String text = fsck(1).stdout();
    assertTrue(text.contains(" both have the space at " + offset + " of region 0 of "), text);
  }

  @Test
  void spaceOfManyFilesIsCountedAfterAThousandLines() throws Exception {
    startDatanode();
    for (int i = 0; i < 1007; i++) {
      long first = write("first" + i);
      give(write("second" + i), first().tree().find(first).space());
    }
    List<String> lines =
        fsck(1).stdout().lines().filter(each -> each.startsWith("owners ")).toList();
    assertEquals(1001, lines.size());
    assertEquals("owners   and 7 more", lines.get(1000));
    assertEquals(7.0, json(1).get("omittedOwners"));
  }

  @Test
  void reportsWrongAccounts() throws Exception {
    startDatanode();
    write("a");
    give(write("b"), null);
    String text = fsck(1).stdout();
    assertTrue(
        text.matches(
            "(?s)accounts namenode 0 at \\S+ counts 8192 bytes as used or lost, but its files have"
                + " 4096\n.*; accounts are wrong\n"),
        text);
  }

  /** The walks see some files that are gone in the end, and some space with each of two files. */
  @Test
  void filesThatComeAndGoMeanwhileAreNoDamage() throws Exception {
    startDatanode();
    for (int i = 0; i < 2500; i++) {
      write("kept" + i);
    }
    AtomicBoolean stop = new AtomicBoolean();
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("crail.seed=" + seed);
    ClientLoop own = transport.newClientLoop("churn");
    NameNodeClient other = connect(own, Hello.ROLE_CLIENT);
    try {
      CompletableFuture<Void> churn =
          CompletableFuture.runAsync(
              () -> {
                Random random = new Random(seed);
                String path = pathAt(0, "temporary");
                try {
                  while (!stop.get()) {
                    // No two walks in a row are off by the same.
                    write(other, 0, path, Extent.MIN_LENGTH << random.nextInt(7));
                    Remove.Request remove = new Remove.Request(false, Utf8.of(path));
                    ask(other, 0, NameNodeOperations.REMOVE, remove);
                  }
                } catch (Exception e) {
                  throw new CompletionException(e);
                }
              });
      long end = System.nanoTime() + 6_000_000_000L;
      while (System.nanoTime() - end < 0) {
        fsck(0);
      }
      stop.set(true);
      churn.join();
    } finally {
      stop.set(true);
      other.close();
      own.close();
    }
    assertTrue(fsck(0).stdout().endsWith("no space has two owners; accounts are right\n"));
  }

  /** Namenode 0 hears of the restart after namenode 1. */
  @Test
  void aDatanodeThatIsRestartedHasNoTwoOwners() throws Exception {
    Path file = directory.resolve("crail-site.conf");
    Files.writeString(file, Files.readString(file).replace("keepalive 100ms", "keepalive 20s"));
    register(0, 1, 1001);
    // Long enough for another process to take the address, and too short to be offline.
    clock.movedMillis.addAndGet(200_000);
    register(1, 2, 1001);
    CompletableFuture<Void> late =
        CompletableFuture.runAsync(
            () -> {
              try {
                register(0, 2, 1001);
              } catch (Exception e) {
                throw new CompletionException(e);
              }
            },
            CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
    fsck(0);
    late.join();
  }

  @Test
  void withoutANamenodeTheOwnersAreComparedInPart() throws Exception {
    startDatanode();
    close(1);
    String text = fsck(ExitCode.PARTIAL).stdout();
    assertTrue(
        text.endsWith(
            "; owners of space compared at 1 of 2 namenodes;"
                + " accounts compared at 1 of 2 namenodes\n"),
        text);
  }

  @Test
  void damageSaysMoreThanAMissingNamenode() throws Exception {
    startDatanode();
    write("a");
    give(write("b"), null);
    close(1);
    assertTrue(fsck(ExitCode.FAILURE).stderr().contains("without the part of namenode 1"));
  }

  @Test
  void aTierThatThisHostLacksLeavesItsFilesUnread() throws Exception {
    lend(0, register(0, 1, 1001, "pigeon"), 0, 0);
    write("a");
    write("b");
    String text = fsck(1, "--data").stdout();
    assertTrue(
        text.matches(
            "(?s)unread   /\\w+: 1 B of 1 B, datanode 127.0.0.1:1001 cannot be read: .*pigeon.*"
                + "; unread: 2 files \\(2 B\\)\n.*"),
        text);
  }

  /** The datanode answers nothing, so reads are under way when the namenode ends. */
  @Test
  void aNamenodeThatEndsWhileItsFilesAreReadCostsOnlyItsOwnPart() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 500, InetAddress.getLoopbackAddress())) {
      for (int index = 0; index < 2; index++) {
        lend(index, register(index, 1, silent.getLocalPort()), index, 0);
      }
      for (int i = 0; i < 200; i++) {
        write("file" + i);
      }
      write(client, 1, pathAt(1, "other"), 1);
      CompletableFuture<Ran> run =
          CompletableFuture.supplyAsync(() -> Ran.run(directory, "fsck", "--data"));
      try (Socket reader = silent.accept()) {
        close(0);
        Ran ran = run.join();
        assertEquals(ExitCode.FAILURE, ran.code(), ran::toString);
        assertTrue(ran.stderr().contains("without the part of namenode 0"), ran::toString);
        assertFalse(ran.stderr().contains("without the part of namenode 1"), ran::toString);
        assertTrue(ran.stdout().contains("unread   " + pathAt(1, "other")), ran::toString);
      }
    }
  }

  @Test
  void reportsLeasesAndCountsOverdueOnesAsDamage() throws Exception {
    startDatanode();
    open("old");
    clock.movedMillis.addAndGet(3000);
    open("young");
    long left = open("left");
    ask(0, NameNodeOperations.SET_SIZE, new SetSize.Request(left, TOKEN, 1, SetSize.EXPIRE));
    String text = fsck(0).stdout();
    assertTrue(
        text.matches(
            "(?s)waits    "
                + pathAtFirst("left")
                + ": the write lease of client 7700 ends in \\d s, and no one may write until then"
                + "\nwrite leases: 2 of 1 client, the oldest for [3-9] s on "
                + pathAtFirst("old")
                + "; ended but not yet released: 1; overdue: 0\n.*"),
        text);
    Map<?, ?> leases = (Map<?, ?>) json(0).get("leases");
    assertEquals(2.0, leases.get("held"));
    assertEquals(pathAtFirst("old"), ((Map<?, ?>) leases.get("oldest")).get("path"));
    clock.movedMillis.addAndGet(30_000);
    text = fsck(1).stdout();
    assertTrue(
        text.matches(
            "(?s).*overdue  "
                + pathAtFirst("old")
                + ": the write lease of client 7700 was over 2\\d s ago, and has not ended\n.*"
                + "write leases: 0; ended but not yet released: 0; overdue: 3\n.*"),
        text);
    namenodes.get(0).tick();
    assertEquals(0.0, ((Map<?, ?>) json(0).get("leases")).get("overdue"));
  }
}
