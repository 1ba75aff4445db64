/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogExcerpt;
import io.crail.namenode.log.LogReader;
import io.crail.namenode.log.LogSurvey;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.node.CommitMove;
import io.crail.protocol.node.Names;
import io.crail.protocol.node.Operate;
import io.crail.protocol.node.SetAttributes;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that logs which were written by this and earlier versions are read: there are some of each
 * format among the resources, with what a namenode has that starts from them. A layout of a record
 * changes only together with {@link Lineage#FORMAT}. {@code -Dcrail.golden.update=true} writes
 * those of the present format anew.
 */
@Tag("once")
class GoldenLogTest {
  private static final String ROOT = "golden-logs";
  private static final String FORMAT = "format-";
  private static final String LOG = "log";
  private static final String SNAPSHOT = "snapshot";
  private static final String STATE = ".txt";
  private static final String LAYOUTS = "layouts.txt";
  private static final int NAMENODES = 2;

  /** Less than the header of a frame. */
  private static final int TORN = 50;

  private static final int SEGMENT_BYTES = 32 << 10;
  private static final String[] SETTINGS = {
    "crail.user", "golden", "crail.cluster.name", "golden", "crail.namenode.smallvalues", "1m"
  };

  private final ManualClock clock = new ManualClock();
  private final Queue<Runnable> held = new ArrayDeque<>();
  private boolean isHeld;
  private TestStore store;

  private static Path resources() {
    return Path.of("src", "test", "resources", ROOT);
  }

  private static Path present() {
    return resources().resolve(FORMAT + Lineage.FORMAT);
  }

  // Making them.

  private LogHome home(Path place, int snapshotRecords) throws IOException {
    return new LogHome(
        FileLogDirectory.open(place),
        this::write,
        Runnable::run,
        Runnable::run,
        () -> {},
        clock,
        SEGMENT_BYTES,
        snapshotRecords);
  }

  private void write(Runnable task) {
    if (isHeld) {
      held.add(task);
    } else {
      task.run();
    }
  }

  /** Lets all that was logged go to the disk, in one write. */
  private void write(LogHome home) {
    isHeld = false;
    for (Runnable task = held.poll(); task != null; task = held.poll()) {
      task.run();
    }
    home.tick();
    isHeld = true;
  }

  /** Writes what is held, and all else at once. */
  private void settle(LogHome home) {
    write(home);
    isHeld = false;
  }

  /** Starts a namenode, whose log is not written before {@link #write(LogHome)}. */
  private void start(LogHome home) throws CrailException, IOException {
    store = TestStore.durable(home, clock, new Random(1), NAMENODES, SETTINGS);
    isHeld = true;
  }

  private Operate.Response operate(String path, CompoundStep... steps) throws CrailException {
    return store.call(
        NameNodeOperations.OPERATE, new Operate.Request(0644, Utf8.of(path), List.of(steps)));
  }

  /** A path at the first level that the first namenode has. */
  private static String own(String path) {
    for (int i = 0; ; i++) {
      if (NodePath.namenodeOf(Utf8.of(path + i), NAMENODES) == 0) {
        return path + i;
      }
    }
  }

  /** Records of all kinds but those that only a snapshot has. */
  private void fill(LogHome home) throws CrailException, IOException {
    start(home);
    write(home);
    final int one = store.datanode(8L * TestStore.BLOCK);
    final int two = store.datanode(2, "two", 0, true, 8L * TestStore.BLOCK);
    store.call(
        NameNodeOperations.REGISTER_DATANODE,
        new RegisterDatanode.Request(
            new UUID(3, 3), 1, TestStore.registration(3, "three", 1003, 0, true).description()));
    store.mkdir(own("/d"));
    store.write(own("/d") + "/f", 5000);
    store.write(own("/d") + "/moved", 4096);
    store.file(own("/other"));
    store.create(NodeType.TABLE, own("/table"), 0);
    store.call(
        NameNodeOperations.PUT, TestStore.put(own("/table") + "/k", 11, "a value".getBytes(UTF_8)));
    NodeInfo open = store.create(NodeType.DATAFILE, own("/open"), 12);
    store.extend(open.id(), 12, 0, 100);
    write(home);
    store.setSize(open.id(), 12, 77, SetSize.KEEP);
    store.rename(own("/other"), own("/d") + "/renamed");
    store.renameOver(own("/d") + "/renamed", own("/d") + "/f");
    store.call(
        NameNodeOperations.SET_ATTRIBUTES,
        new SetAttributes.Request(
            SetAttributes.ALL,
            0600,
            5,
            6,
            Utf8.of(own("/d") + "/f"),
            Utf8.of("one"),
            Utf8.of("group")));
    store.remove(own("/d") + "/f", false);
    write(home);
    store.mkdir(own("/q"));
    operate(own("/q"), Steps.limit(1 << 20, 100));
    operate(
        own("/table") + "/c",
        Steps.create(),
        Steps.append("bytes"),
        Steps.set("name", "attribute"));
    store.call(NameNodeOperations.SET_SHARE, Shares.open(1, 3, 5, "/s"));
    move(store.lookup(own("/d") + "/moved").node().id(), true, one, two);
    move(store.lookup(own("/d") + "/moved").node().id(), false, one, two);
    write(home);
    Wire gone = Wire.connect(store.server, 4711);
    gone.call(NameNodeOperations.CREATE, TestStore.creation(NodeType.DIRECTORY, own("/gone"), 0));
    gone.close();
    store.pass(Wire.PATIENCE_MILLIS + 1_000);
    store.namenode.verify();
  }

  private void move(long id, boolean isDone, int... datanodes) throws CrailException {
    List<ListExtents.Placed> all = new ArrayList<>();
    for (int datanode : datanodes) {
      ListExtents.Request request = new ListExtents.Request(datanode, 0, 0, 0);
      all.addAll(store.call(NameNodeOperations.LIST_EXTENTS, request).extents());
    }
    ListExtents.Placed placed =
        all.stream().filter(each -> each.id() == id).findFirst().orElseThrow();
    BeginMove.Response begun =
        store.call(
            NameNodeOperations.BEGIN_MOVE,
            new BeginMove.Request(
                id, 13, placed.fileOffset(), placed.place(), BeginMove.ANY_DATANODE));
    if (isDone) {
      store.call(
          NameNodeOperations.COMMIT_MOVE,
          new CommitMove.Request(
              id,
              13,
              begun.grant(),
              begun.bytes(),
              placed.fileOffset(),
              placed.place(),
              begun.target()));
    }
  }

  /** Writes what a disk has of a frame that was being written. */
  private static void tear(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int end = bytes.length;
    while (end > 0 && bytes[end - 1] == 0) {
      end--;
    }
    int page = 4096;
    int next = (end + page - 1) / page * page;
    System.arraycopy(bytes, next - page, bytes, next, TORN);
    Files.write(file, bytes);
  }

  private void make(Path log, Path snapshot) throws CrailException, IOException {
    try (LogHome home = home(log, Integer.MAX_VALUE)) {
      fill(home);
      settle(home);
    }
    copy(log, snapshot);
    try (LogHome home = home(snapshot, 0)) {
      start(home);
      settle(home);
    }
    try (LogHome home = home(snapshot, Integer.MAX_VALUE).ahead(1_000_000_000)) {
      start(home);
      settle(home);
      home.abandon();
    }
    try (LogHome home = home(snapshot, Integer.MAX_VALUE).ahead(1_000_000_000)) {
      start(home);
      store.mkdir(own("/later"));
      // What is free is held back until then.
      store.pass(10_000);
      settle(home);
    }
    for (Path place : List.of(log, snapshot)) {
      Files.delete(place.resolve("lock"));
      try (Stream<Path> files = Files.list(place)) {
        tear(
            files
                .filter(file -> file.getFileName().toString().matches("[0-9]+.log"))
                .max(Comparator.naturalOrder())
                .orElseThrow());
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static void delete(Path place) throws IOException {
    if (Files.exists(place)) {
      try (Stream<Path> files = Files.walk(place)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  @BeforeAll
  static void writeThoseOfThePresentFormat(@TempDir Path temporary) throws Exception {
    if (!Boolean.getBoolean("crail.golden.update")) {
      return;
    }
    delete(present());
    new GoldenLogTest()
        .make(
            Files.createDirectories(present().resolve(LOG)),
            Files.createDirectories(present().resolve(SNAPSHOT)));
    for (String each : List.of(LOG, SNAPSHOT)) {
      String state = new GoldenLogTest().stateOf(present().resolve(each), temporary);
      Files.writeString(present().resolve(each + STATE), state);
    }
    Files.writeString(present().resolve(LAYOUTS), layouts());
  }

  // Reading them.

  /** What a namenode has that starts from a copy of a directory. */
  private String stateOf(Path place, Path temporary) throws CrailException, IOException {
    Path copy = temporary.resolve("copy-of-" + place.getFileName());
    copy(place, copy);
    try (LogHome home = home(copy, Integer.MAX_VALUE)) {
      start(home);
      settle(home);
      store.namenode.verify();
      return state();
    }
  }

  private String state() throws CrailException {
    List<String> lines = new ArrayList<>();
    for (long next = 0; next >= 0; ) {
      Dump.Response page = store.call(NameNodeOperations.DUMP, new Dump.Request(next));
      page.text()
          .toString()
          .lines()
          .filter(line -> !line.startsWith("operation ") && !line.startsWith("transport "))
          .forEach(lines::add);
      next = page.next();
    }
    store
        .namenode
        .tree()
        .walk(
            0,
            Long.MAX_VALUE,
            node -> {
              lines.add(
                  "node "
                      + node.id()
                      + " "
                      + node.path()
                      + " attributes "
                      + node.attributes()
                      + " extras "
                      + store.namenode.tree().extras().of(node)
                      + " lease "
                      + (node.lease() == null ? 0 : node.lease().token()));
              for (int i = 0; node.space() != null && i < node.space().count(); i++) {
                lines.add("extent of " + node.id() + " " + node.space().at(i).extent());
              }
              return true;
            });
    store
        .namenode
        .replies()
        .forEach(
            replies ->
                replies.forEach(
                    (reply, slot) -> {
                      if (reply.number() >= 0) {
                        lines.add(
                            "answer to client "
                                + replies.peer().client()
                                + " slot "
                                + slot
                                + " request "
                                + reply.number()
                                + (reply.isLost() ? " lost" : " code " + reply.code()));
                      }
                    }));
    lines.add(store.call(NameNodeOperations.NAMES, new Names.Request(0)).toString());
    return String.join("\n", new TreeSet<>(lines)) + "\n";
  }

  static Stream<Path> places() throws IOException {
    try (Stream<Path> formats = Files.list(resources())) {
      return formats
          .flatMap(format -> Stream.of(format.resolve(LOG), format.resolve(SNAPSHOT)))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("places")
  void eachIsReadAsItWasWritten(Path place, @TempDir Path temporary) throws Exception {
    String expected = Files.readString(place.resolveSibling(place.getFileName() + STATE));
    assertEquals(expected, stateOf(place, temporary));
    try (FileLogDirectory log = FileLogDirectory.openToRead(place)) {
      LogSurvey survey = LogSurvey.of(log);
      assertEquals("", survey.damage());
      assertTrue(survey.parts().stream().anyMatch(part -> part.tornBytes() > 0));
    }
  }

  /** What is in the files of the present format, by kind. */
  private static Map<String, List<byte[]>> records(String place) throws Exception {
    Map<String, List<byte[]>> records = new LinkedHashMap<>();
    LogReader.Visitor gathering =
        new LogReader.Visitor() {
          @Override
          public void written(long millis, long nanos) {}

          @Override
          public void record(long number, int kind, ByteBuffer bytes, int offset, int length)
              throws CrailException {
            byte[] record = new byte[length];
            bytes.get(offset, record);
            records.computeIfAbsent(LogRecords.kind(kind), key -> new ArrayList<>()).add(record);
          }
        };
    try (FileLogDirectory log = FileLogDirectory.openToRead(present().resolve(place))) {
      LogExcerpt.read(log, 1, Long.MAX_VALUE, gathering);
      LogExcerpt.readSnapshot(log, 1, Long.MAX_VALUE, gathering);
    }
    return records;
  }

  @Test
  void thereIsOneOfEachKind() throws Exception {
    TreeSet<String> found = new TreeSet<>(records(LOG).keySet());
    found.addAll(records(SNAPSHOT).keySet());
    assertEquals(new TreeSet<>(LogRecords.kinds()), found);
  }

  @Test
  void theBytesAreStillTheSame() throws Exception {
    for (Map.Entry<String, List<byte[]>> each : records(LOG).entrySet()) {
      for (byte[] record : each.getValue()) {
        assertArrayEquals(record, encodedAgain(each.getKey(), record), each.getKey());
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static byte[] encodedAgain(String kind, byte[] record) throws CrailException {
    Codec<Object> codec = (Codec<Object>) LogRecords.codec(kind);
    Object value =
        codec.decode(ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN), 0, record.length);
    byte[] bytes = new byte[codec.length(value)];
    codec.encode(value, ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 0);
    return bytes;
  }

  /** The layouts of all records, and of their parts. */
  private static String layouts() throws CrailException {
    Map<String, String> layouts = new LinkedHashMap<>();
    for (String kind : LogRecords.kinds()) {
      add(layouts, LogRecords.codec(kind));
    }
    return String.join("", layouts.values());
  }

  private static void add(Map<String, String> layouts, Codec<?> codec) {
    Layout layout = codec.layout();
    if (layouts.containsKey(layout.name())) {
      return;
    }
    StringBuilder text = new StringBuilder(layout.name()).append('\n');
    for (Layout.Field field : layout.fields()) {
      text.append("  ").append(field.offset()).append(' ').append(field.width());
      text.append(' ').append(field.name()).append('\n');
    }
    layout.tails().forEach(tail -> text.append("  then ").append(tail.name()).append('\n'));
    layouts.put(layout.name(), text.toString());
    layout.parts().forEach(part -> add(layouts, part));
  }

  @Test
  void noLayoutChangesWithoutANewFormat() throws Exception {
    assertEquals(
        Files.readString(present().resolve(LAYOUTS)),
        layouts(),
        "a record has another layout, so Lineage.FORMAT has to grow; see docs/durability-log.md");
  }
}
