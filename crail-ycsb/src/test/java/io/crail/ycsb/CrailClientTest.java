/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

@Timeout(60)
class CrailClientTest {
  private static final int PATIENCE_SECONDS = 50;

  private static EmbeddedCrail crail;

  private final List<CrailClient> clients = new ArrayList<>();
  private EmbeddedCrail cluster = crail;
  private String table;
  private CrailClient client;

  @BeforeAll
  static void startCluster() throws Exception {
    crail = EmbeddedCrail.builder().namenodes(2).storage(256L << 20).start();
  }

  @AfterAll
  static void stopCluster() {
    crail.close();
  }

  @BeforeEach
  void openClient(TestInfo test) throws Exception {
    table = test.getTestMethod().orElseThrow().getName();
    client = open(Map.of("crail.enumeratekeys", "true"));
  }

  @AfterEach
  void closeClients() throws Exception {
    for (CrailClient each : clients) {
      each.cleanup();
    }
    if (cluster != crail) {
      cluster.close();
    }
    assertEquals(0, SharedStores.PROCESS.count());
  }

  /** Continues with a new cluster. */
  private void startOther(String setting, String value, long storage) throws Exception {
    cluster = EmbeddedCrail.builder().storage(storage).set(setting, value).start();
    client = open(Map.of("crail.enumeratekeys", "true"));
  }

  private CrailClient open(Map<String, String> more) throws DBException {
    Properties properties = new Properties();
    cluster.configuration().texts().forEach(properties::setProperty);
    properties.setProperty("table", table);
    more.forEach(properties::setProperty);
    CrailClient opened = new CrailClient();
    opened.setProperties(properties);
    opened.init();
    clients.add(opened);
    return opened;
  }

  private static Map<String, ByteIterator> values(String... namesAndValues) {
    Map<String, ByteIterator> values = new HashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      // YCSB's own iterator of strings takes only the lower half of each character.
      byte[] bytes = namesAndValues[i + 1].getBytes(StandardCharsets.UTF_8);
      values.put(namesAndValues[i], new ByteArrayByteIterator(bytes));
    }
    return values;
  }

  private static Map<String, String> texts(Map<String, ByteIterator> values) {
    Map<String, String> texts = new HashMap<>();
    values.forEach((name, value) -> texts.put(name, value.toString()));
    return texts;
  }

  /** The fields of a record, which must exist. */
  private Map<String, String> read(String key, Set<String> fields) {
    return read(client, key, fields);
  }

  private Map<String, String> read(CrailClient by, String key, Set<String> fields) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertSame(Status.OK, by.read(table, key, fields, result));
    return texts(result);
  }

  private void insert(String key, String... namesAndValues) {
    assertSame(Status.OK, client.insert(table, key, values(namesAndValues)));
  }

  private List<Map<String, String>> scan(String first, int count, Set<String> fields) {
    Vector<HashMap<String, ByteIterator>> result = new Vector<>();
    assertSame(Status.OK, client.scan(table, first, count, fields, result));
    return result.stream().map(CrailClientTest::texts).toList();
  }

  @Test
  void allOrChosenFieldsOfARecordAreRead() {
    insert("user1", "field0", "zero", "field1", "", "field2", "two");
    assertEquals(Map.of("field0", "zero", "field1", "", "field2", "two"), read("user1", null));
    assertEquals(
        Map.of("field2", "two", "field1", ""), read("user1", Set.of("field1", "field2", "no")));
  }

  @Test
  void anUpdateKeepsTheOtherFields() {
    insert("user1", "field0", "zero", "field1", "one");
    assertSame(Status.OK, client.update(table, "user1", values("field1", "uno", "field9", "new")));
    assertEquals(Map.of("field0", "zero", "field1", "uno", "field9", "new"), read("user1", null));
  }

  /** A record and its temporary name are at one namenode. */
  @Test
  void recordsOfASpreadTableAreUpdated() throws Exception {
    table = "spread";
    CrailClient spreading =
        open(Map.of("crail.client.spread", "/spread", "crail.enumeratekeys", "true"));
    List<String> keys = new ArrayList<>(List.of("a{b}c", "}{", "%", ""));
    for (int i = 0; i < 20; i++) {
      keys.add("user" + i);
    }
    for (String key : keys) {
      assertSame(Status.OK, spreading.insert(table, key, values("f", "old", "g", key)));
      assertSame(Status.OK, spreading.update(table, key, values("f", "new")), key);
    }
    for (String key : keys) {
      assertEquals(Map.of("f", "new", "g", key), read(key, null));
      assertSame(Status.OK, client.update(table, key, values("f", "newer")), key);
      assertEquals("newer", read(spreading, key, null).get("f"));
    }
    assertEquals(keys.size(), scan("", 100, null).size());
  }

  @Test
  void anInsertTakesThePlaceOfARecord() {
    insert("user1", "field0", "zero", "field1", "one");
    insert("user1", "field0", "again");
    assertEquals(Map.of("field0", "again"), read("user1", null));
  }

  @Test
  void missingRecordsAreNotFound() {
    assertSame(Status.NOT_FOUND, client.read(table, "nobody", null, new HashMap<>()));
    assertSame(Status.NOT_FOUND, client.update(table, "nobody", values("field0", "x")));
    assertSame(Status.NOT_FOUND, client.delete(table, "nobody"));
    assertSame(Status.NOT_FOUND, client.read("notable", "nobody", null, new HashMap<>()));
    assertSame(Status.NOT_FOUND, client.delete("notable", "nobody"));
    insert("user1", "field0", "zero");
    assertSame(Status.OK, client.delete(table, "user1"));
    assertSame(Status.NOT_FOUND, client.read(table, "user1", null, new HashMap<>()));
    assertEquals(List.of(), scan("", 10, null));
  }

  @Test
  void anInsertMakesItsTable() {
    assertSame(Status.OK, client.insert("another", "user1", values("field0", "zero")));
    assertSame(Status.OK, client.read("another", "user1", null, new HashMap<>()));
  }

  /** Below one extent, above a block, and above the client's buffer. */
  @ParameterizedTest
  @ValueSource(ints = {256, 100_000, 3_000_000})
  void valuesAreAnyBytes(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i < 256 ? i : i * 31 >>> 3);
    }
    Map<String, ByteIterator> values = new HashMap<>();
    values.put("field0", new ByteArrayByteIterator(bytes));
    assertSame(Status.OK, client.insert(table, "user1", values));
    assertSame(Status.OK, client.update(table, "user1", values("field1", "one")));
    Map<String, ByteIterator> result = new HashMap<>();
    assertSame(Status.OK, client.read(table, "user1", null, result));
    assertArrayEquals(bytes, result.get("field0").toArray());
    assertEquals("one", result.get("field1").toString());
  }

  @Test
  void keysAreAnyText() {
    List<String> keys =
        List.of(
            "",
            "%",
            "%2f",
            "%-temporary",
            ".",
            "..",
            "/",
            "//a//",
            "a\0b\nc",
            "a?b*c d",
            "a{b}c",
            "}{",
            "\u00fc\u65e5\ud83d\ude00",
            "x".repeat(255));
    for (String key : keys) {
      insert(key, "field0", "of " + key);
    }
    for (String key : keys) {
      assertEquals(Map.of("field0", "of " + key), read(key, null));
    }
    List<Map<String, String>> expected =
        keys.stream().sorted().map(key -> Map.of("field0", "of " + key)).toList();
    assertEquals(expected, scan("", 100, null));
    for (String key : keys) {
      assertSame(Status.OK, client.delete(table, key));
    }
    assertEquals(List.of(), scan("", 100, null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"long", "surrogate"})
  void aKeyThatCannotBeANameIsRefused(String what) {
    String key = what.equals("long") ? "x".repeat(256) : "half \ud83d";
    assertSame(Status.BAD_REQUEST, client.insert(table, key, values("field0", "zero")));
    assertSame(Status.BAD_REQUEST, client.read(table, key, null, new HashMap<>()));
    assertSame(Status.BAD_REQUEST, client.update(table, key, values("field0", "zero")));
    assertSame(Status.BAD_REQUEST, client.delete(table, key));
  }

  @Test
  void aScanGoesInTheOrderOfTheKeysWhateverWasDoneToThem() throws Exception {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      numbers.add(i);
    }
    Collections.shuffle(numbers, new Random(5));
    for (int number : numbers) {
      insert(String.format("user%02d", number), "n", String.valueOf(number), "f", "x");
    }
    for (int i = 0; i < 60; i += 3) {
      assertSame(
          Status.OK, client.update(table, String.format("user%02d", i), values("f", "updated")));
    }
    assertSame(Status.OK, client.delete(table, "user21"));
    // The remains of an update whose process ended in the middle.
    put(KeyNames.RESERVED + "left", new byte[] {1});
    List<Map<String, String>> expected = new ArrayList<>();
    for (int i = 20; i < 31; i++) {
      if (i != 21) {
        expected.add(Map.of("n", String.valueOf(i)));
      }
    }
    assertEquals(expected, scan("user1999", 10, Set.of("n")));
    assertEquals(59, scan("", 1000, null).size());
    assertEquals(2, scan("user58", 10, null).size());
    assertEquals(List.of(), scan("user6", 10, null));
    assertEquals(List.of(), scan("", 0, null));
  }

  @Test
  void withoutEnumerationRecordsAreReadButNotScanned() throws Exception {
    CrailClient plain = open(Map.of());
    assertSame(Status.OK, plain.insert(table, "user1", values("field0", "zero")));
    assertSame(Status.OK, plain.update(table, "user1", values("field0", "zero")));
    assertSame(Status.OK, plain.read(table, "user1", null, new HashMap<>()));
    assertSame(Status.NOT_IMPLEMENTED, plain.scan(table, "user1", 10, null, new Vector<>()));
    assertEquals(List.of(), scan("", 10, null));
  }

  @Test
  void aCorruptRecordIsAnError() throws Exception {
    insert("user1", "field0", "zero");
    put("user2", "no record at all".getBytes(StandardCharsets.UTF_8));
    assertSame(Status.ERROR, client.read(table, "user2", null, new HashMap<>()));
    assertSame(Status.ERROR, client.update(table, "user2", values("field0", "zero")));
    assertSame(Status.ERROR, client.scan(table, "user2", 5, null, new Vector<>()));
    assertEquals(Map.of("field0", "zero"), read("user1", null));
  }

  /** Puts bytes without the binding. */
  private void put(String key, byte[] bytes) throws Exception {
    try (CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      CrailKeyValue value =
          store
              .create(
                  table + "/" + key,
                  CrailNodeType.KEYVALUE,
                  CrailStorageClass.PARENT,
                  CrailLocationClass.PARENT,
                  true)
              .get()
              .asKeyValue();
      CrailOutputStream stream = value.getDirectOutputStream(bytes.length);
      CrailBuffer buffer = store.allocateBuffer();
      buffer.clear();
      buffer.put(bytes).flip();
      stream.write(buffer).get();
      stream.close();
      store.freeBuffer(buffer);
    }
  }

  /**
   * Threads update different fields of the same record. Readers always find all fields, and whole
   * ones. This holds when the namenode stores all records, has memory for one of them, or stores
   * none.
   */
  @ParameterizedTest
  @CsvSource({
    "crail.namenode.smallvalue, 2k",
    "crail.namenode.smallvalues, 4k",
    "crail.namenode.smallvalue, 0"
  })
  void updatesOfARecordAtTheSameTimeLoseNothing(String setting, String value) throws Exception {
    startOther(setting, value, 64L << 20);
    int writers = 3;
    int rounds = 150;
    for (int i = 0; i < writers; i++) {
      insert("user" + i, "w0", text(0), "w1", text(0), "w2", text(0));
    }
    // With its own store, as in another process.
    CrailClient reader = open(Map.of("crail.rpctimeout", "30s"));
    AtomicInteger running = new AtomicInteger(writers);
    ExecutorService threads = Executors.newFixedThreadPool(writers + 1);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int writer = 0; writer < writers; writer++) {
        String field = "w" + writer;
        CrailClient own = open(Map.of("crail.enumeratekeys", "true"));
        ends.add(
            threads.submit(
                () -> {
                  try {
                    for (int round = 1; round <= rounds; round++) {
                      String key = "user" + round % writers;
                      String last = text(Math.max(0, round - writers));
                      assertEquals(last, read(own, key, null).get(field), key);
                      assertSame(Status.OK, own.update(table, key, values(field, text(round))));
                    }
                  } finally {
                    running.decrementAndGet();
                  }
                }));
      }
      ends.add(
          threads.submit(
              () -> {
                for (int i = 0; running.get() > 0; i++) {
                  Map<String, String> record = read(reader, "user" + i % writers, null);
                  assertEquals(Set.of("w0", "w1", "w2"), record.keySet());
                  record.values().forEach(CrailClientTest::requireWhole);
                }
              }));
      for (Future<?> end : ends) {
        end.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
    for (int i = 0; i < writers; i++) {
      String last = text(i == 0 ? rounds : rounds - writers + i);
      assertEquals(Map.of("w0", last, "w1", last, "w2", last), read("user" + i, null));
    }
    // The updates leave nothing else.
    assertEquals(writers, entries());
  }

  @Test
  void anUpdateThatFindsNoSpaceLeavesTheOldRecord() throws Exception {
    startOther("crail.namenode.smallvalue", "0", 2L << 20);
    insert("user1", "field0", "zero", "field1", "one");
    for (int i = 0; fill("filler" + i); i++) {
      assertTrue(i < 1000, "space without end");
    }
    int entries = entries();
    assertSame(Status.ERROR, client.update(table, "user1", values("field0", "uno")));
    assertEquals(Map.of("field0", "zero", "field1", "one"), read("user1", null));
    // The update leaves nothing else either.
    assertEquals(entries, entries());
  }

  private boolean fill(String key) {
    return client.insert(table, key, values("field0", "x".repeat(3000))) == Status.OK;
  }

  private int entries() throws Exception {
    try (CrailStore store =
        CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      return store.lookup(table).get().asTable().files();
    }
  }

  private static String text(int round) {
    return (round + ",").repeat(1 + round * 7 % 300);
  }

  private static void requireWhole(String value) {
    int round = Integer.parseInt(value.substring(0, value.indexOf(',')));
    assertEquals(text(round), value);
  }

  @Test
  void clientsOfAConfigurationShareAStoreThatTheLastOneCloses() throws Exception {
    CrailClient second = open(Map.of("crail.enumeratekeys", "false"));
    CrailClient other = open(Map.of("crail.rpctimeout", "9s"));
    assertEquals(2, SharedStores.PROCESS.count());
    client.cleanup();
    other.cleanup();
    assertEquals(1, SharedStores.PROCESS.count());
    assertSame(Status.OK, second.insert(table, "user1", values("field0", "zero")));
    second.cleanup();
    second.cleanup();
    assertEquals(0, SharedStores.PROCESS.count());
  }

  @Test
  void aClientThatCannotBeginSaysWhyAndLeavesNothing() throws Exception {
    String message =
        assertThrows(DBException.class, () -> open(Map.of("crail.nosuchkey", "1"))).getMessage();
    assertTrue(message.contains("crail.nosuchkey"), message);
    message =
        assertThrows(DBException.class, () -> open(Map.of("table", "no/such/parent"))).getMessage();
    assertTrue(message.contains("no/such"), message);
    insert("user1", "field0", "zero");
    message =
        assertThrows(DBException.class, () -> open(Map.of("table", table + "/user1"))).getMessage();
    assertTrue(message.contains("user1"), message);
    assertEquals(1, SharedStores.PROCESS.count());
  }

  @Test
  void aClusterThatIsGoneIsUnavailable() throws Exception {
    EmbeddedCrail brief = EmbeddedCrail.builder().storage(16L << 20).start();
    CrailClient left;
    try {
      Map<String, String> settings = new HashMap<>(brief.configuration().texts());
      settings.put("crail.rpctimeout", "1s");
      left = open(settings);
    } finally {
      brief.close();
    }
    assertSame(Status.SERVICE_UNAVAILABLE, left.read(table, "user1", null, new HashMap<>()));
    assertSame(Status.SERVICE_UNAVAILABLE, left.insert(table, "user1", values("field0", "zero")));
  }
}
