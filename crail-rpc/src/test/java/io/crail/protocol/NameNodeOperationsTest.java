/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.DatanodeState;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * One test for all operations. It loops over the table, so an operation is tested as soon as the
 * table has a line for it.
 *
 * <p>{@code -Dcrail.seed=} repeats a run. {@code -Dcrail.golden.update=true} writes the golden
 * bytes anew after an intended change of a message.
 */
@Tag("once")
class NameNodeOperationsTest {
  private static final String GOLDEN = "golden-messages.txt";
  private static final int ROUNDS = 200;

  /** One of the two messages of an operation. */
  private record Message<T>(String name, Codec<T> codec, Class<T> type) {
    @SuppressWarnings("unchecked")
    static Message<?> of(Operation<?, ?> operation, boolean request) {
      Codec<?> codec = request ? operation.request() : operation.response();
      String name = operation.number() + " " + operation + (request ? " request" : " response");
      return new Message<>(name, (Codec<Object>) codec, (Class<Object>) codec.type());
    }

    ByteBuffer encode(Object message) {
      T typed = type.cast(message);
      ByteBuffer buffer = buffer(codec.length(typed));
      codec.encode(typed, buffer, 0);
      return buffer;
    }

    T decode(ByteBuffer buffer) throws CrailException {
      return codec.decode(buffer, 0, buffer.capacity());
    }
  }

  private static List<Message<?>> messages() {
    List<Message<?>> messages = new ArrayList<>();
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      messages.add(Message.of(operation, true));
      messages.add(Message.of(operation, false));
    }
    return messages;
  }

  private static Stream<DynamicTest> forEachMessage(Consumer<Message<?>> test) {
    return messages().stream()
        .map(message -> DynamicTest.dynamicTest(message.name(), () -> test.accept(message)));
  }

  private static ByteBuffer buffer(int length) {
    return ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long seed() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    return seed;
  }

  /** Runs a check on many random messages; a failure names the seed. */
  private static void withRandomMessages(Message<?> message, RandomCheck check) {
    long seed = seed();
    Random random = new Random(seed);
    Messages messages = Messages.random(random);
    for (int round = 0; round < ROUNDS; round++) {
      Object value = messages.make(message.type());
      try {
        check.run(value, random);
      } catch (CrailException | RuntimeException | AssertionError e) {
        throw new AssertionError("-Dcrail.seed=" + seed + " round " + round + ": " + value, e);
      }
    }
  }

  private interface RandomCheck {
    void run(Object value, Random random) throws CrailException;
  }

  private static void assertRefused(Message<?> message, ByteBuffer bytes, String why) {
    CrailException refusal =
        assertThrows(CrailException.class, () -> message.decode(bytes), () -> why);
    assertEquals(ErrorCode.PROTOCOL, refusal.code(), why);
  }

  @Test
  void numbersAndNamesAreDistinct() {
    Map<Integer, Operation<?, ?>> all = NameNodeOperations.all();
    TreeSet<String> names = new TreeSet<>();
    all.forEach(
        (number, operation) -> {
          assertEquals(number, operation.number());
          assertTrue(names.add(operation.name()), operation.name());
          assertFalse(operation.sentence().isBlank());
        });
    assertFalse(all.isEmpty());
    assertThrows(UnsupportedOperationException.class, () -> all.remove(1));
  }

  @Test
  void numbersArePermanent() {
    // A number that was once given away may never mean something else.
    Map<Integer, String> given = new LinkedHashMap<>();
    String[] names = {
      "hello",
      "create",
      "lookup",
      "set-size",
      "remove",
      "rename",
      "find-extents",
      "extend",
      "acquire-lease",
      "renew-leases",
      "list-nodes",
      "locations",
      "register-datanode",
      "register-region",
      "keep-alive",
      "remove-datanode",
      "describe-datanode",
      "list-datanodes",
      "usage",
      "ping",
      "dump",
      "names",
      "set-attributes",
      "replace-extent",
      "put"
    };
    for (int i = 0; i < names.length; i++) {
      given.put(i + 1, names[i]);
    }
    given.put(30, "report-datanodes");
    given.put(32, "login");
    given.put(33, "create-spread");
    given.put(34, "set-share");
    given.put(35, "check-shares");
    given.put(36, "report-activity");
    given.put(37, "operate");
    given.put(38, "operate-read");
    given.put(39, "announce-space");
    given.put(40, "list-shares");
    given.put(42, "lend-quota");
    given.put(41, "stage");
    given.forEach(
        (number, name) -> assertEquals(name, NameNodeOperations.all().get(number).name()));
  }

  @Test
  void numbersOfStatesArePermanent() throws Exception {
    DatanodeState[] given = {
      DatanodeState.ONLINE,
      DatanodeState.DRAINING,
      DatanodeState.OFFLINE,
      DatanodeState.LOST,
      DatanodeState.IMPAIRED
    };
    assertEquals(Set.of(given), Set.of(DatanodeState.values()));
    for (int number = 0; number < given.length; number++) {
      ByteBuffer bytes = ByteBuffer.allocate(1);
      DatanodeState.CODEC.encode(given[number], bytes, 0);
      assertEquals(number, bytes.get(0));
      assertEquals(given[number], DatanodeState.CODEC.read(bytes, 0));
    }
  }

  @TestFactory
  Stream<DynamicTest> longestMessageFitsInFrame() {
    return forEachMessage(
        message ->
            assertTrue(
                message.codec().layout().maxLength() <= Frame.MAX_BODY_LENGTH,
                () -> message.codec().layout().maxLength() + " bytes"));
  }

  @TestFactory
  Stream<DynamicTest> roundTripKeepsTheMessageAndItsNeighbours() {
    return forEachMessage(
        message ->
            withRandomMessages(
                message, (value, random) -> roundTrip(message, value, random.nextInt(9))));
  }

  /** A put is written from where its value is as if the value were a part of the message. */
  @Test
  void aDraftIsWrittenAsTheRequestIs() {
    Message<Put.Request> message = new Message<>("put", Put.Request.CODEC, Put.Request.class);
    withRandomMessages(
        message,
        (value, random) -> {
          Put.Request some = (Put.Request) value;
          boolean carried = some.value().length() > 0;
          int length = carried ? some.value().length() : random.nextInt(1 << 20);
          int from = random.nextInt(9);
          ByteBuffer memory = buffer(from + some.value().length());
          some.value().copyTo(memory, from);
          memory.limit(random.nextInt(memory.capacity() + 1));
          Put.Draft draft =
              new Put.Draft(
                  some.enumerable(),
                  some.strict(),
                  some.permissions(),
                  some.storageClass(),
                  some.token(),
                  some.path(),
                  some.host(),
                  memory,
                  from,
                  length,
                  carried);
          ByteBuffer bytes = buffer(draft.encodedLength());
          draft.encode(bytes, 0);
          Put.Request expected =
              new Put.Request(
                  some.enumerable(),
                  some.strict(),
                  some.permissions(),
                  some.storageClass(),
                  some.token(),
                  length,
                  some.path(),
                  some.host(),
                  some.value());
          assertEquals(expected, message.decode(bytes));
        });
  }

  private static <T> void roundTrip(Message<T> message, Object value, int offset)
      throws CrailException {
    T typed = message.type().cast(value);
    int length = message.codec().length(typed);
    ByteBuffer buffer = buffer(offset + length + 8);
    for (int i = 0; i < buffer.capacity(); i++) {
      buffer.put(i, (byte) 0x5a);
    }
    message.codec().encode(typed, buffer, offset);
    assertEquals(value, message.codec().decode(buffer, offset, length));
    for (int i = 0; i < buffer.capacity(); i++) {
      if (i < offset || i >= offset + length) {
        assertEquals(0x5a, buffer.get(i), "byte " + (i - offset) + " does not belong to it");
      }
    }
    assertEquals(0, buffer.position());
    assertEquals(buffer.capacity(), buffer.limit());
  }

  @TestFactory
  Stream<DynamicTest> everyTruncationIsRefused() {
    return forEachMessage(
        message ->
            withRandomMessages(
                message,
                (value, random) -> {
                  ByteBuffer whole = message.encode(value);
                  for (int length = 0; length < whole.capacity(); length++) {
                    ByteBuffer part = whole.slice(0, length).order(ByteOrder.LITTLE_ENDIAN);
                    assertRefused(message, part, length + " of " + whole.capacity() + " bytes");
                  }
                }));
  }

  @TestFactory
  Stream<DynamicTest> everyExtensionIsRefused() {
    return forEachMessage(
        message ->
            withRandomMessages(
                message,
                (value, random) -> {
                  ByteBuffer whole = message.encode(value);
                  for (int extra : new int[] {1, 2, 8}) {
                    ByteBuffer longer = buffer(whole.capacity() + extra);
                    longer.put(0, whole, 0, whole.capacity());
                    assertRefused(message, longer, extra + " bytes more");
                  }
                }));
  }

  @TestFactory
  Stream<DynamicTest> everyLyingCountIsRefused() {
    return forEachMessage(
        message ->
            withRandomMessages(
                message,
                (value, random) -> {
                  for (Layout.Tail tail : message.codec().layout().tails()) {
                    assertFalseAnswersAreRefused(message, value, tail.countField());
                    if (tail.page() != null && tail.page().countField() != null) {
                      assertFalseAnswersAreRefused(message, value, tail.page().countField());
                    }
                  }
                }));
  }

  private static void assertFalseAnswersAreRefused(
      Message<?> message, Object value, Layout.Field field) {
    long count = count(message.encode(value), field);
    long most = (1L << (8 * field.width())) - 1;
    for (long lie : new long[] {count - 1, count + 1, 0, most, most / 2 + 1}) {
      if (lie != count && lie >= 0 && lie <= most) {
        ByteBuffer bytes = message.encode(value);
        setCount(bytes, field, lie);
        assertRefused(message, bytes, field.name() + " " + count + "->" + lie);
      }
    }
  }

  private static long count(ByteBuffer buffer, Layout.Field field) {
    return switch (field.width()) {
      case 1 -> buffer.get(field.offset()) & 0xff;
      case 2 -> buffer.getShort(field.offset()) & 0xffff;
      default -> buffer.getInt(field.offset()) & 0xffffffffL;
    };
  }

  private static void setCount(ByteBuffer buffer, Layout.Field field, long count) {
    switch (field.width()) {
      case 1 -> buffer.put(field.offset(), (byte) count);
      case 2 -> buffer.putShort(field.offset(), (short) count);
      default -> buffer.putInt(field.offset(), (int) count);
    }
  }

  @TestFactory
  Stream<DynamicTest> flippedBytesGiveAMessageOrATypedError() {
    return forEachMessage(
        message ->
            withRandomMessages(
                message,
                (value, random) -> {
                  ByteBuffer bytes = message.encode(value);
                  for (int i = 0; i < Math.min(3, bytes.capacity()); i++) {
                    bytes.put(random.nextInt(bytes.capacity()), (byte) random.nextInt());
                  }
                  try {
                    ByteBuffer again = message.encode(message.decode(bytes));
                    assertEquals(bytes.capacity(), again.capacity());
                  } catch (CrailException e) {
                    assertTrue(
                        e.code() == ErrorCode.PROTOCOL || e.code() == ErrorCode.INVALID_ARGUMENT,
                        e.toString());
                  }
                }));
  }

  @Test
  void bytesAreAsCommitted() throws Exception {
    Map<String, String> golden = new LinkedHashMap<>();
    for (Message<?> message : messages()) {
      golden.put(message.name(), hex(message.encode(Messages.telling().make(message.type()))));
    }
    if (Boolean.getBoolean("crail.golden.update")) {
      update(golden);
    }
    Map<String, String> committed = readGolden();
    assertEquals(committed.keySet(), golden.keySet(), "messages in " + GOLDEN);
    assertAll(
        golden.entrySet().stream()
            .map(
                entry ->
                    () ->
                        assertEquals(
                            committed.get(entry.getKey()), entry.getValue(), entry.getKey())));
    for (Message<?> message : messages()) {
      byte[] bytes = HexFormat.of().parseHex(committed.get(message.name()).replaceAll("\\s+", ""));
      ByteBuffer buffer = buffer(bytes.length);
      buffer.put(0, bytes);
      assertEquals(Messages.telling().make(message.type()), message.decode(buffer), message.name());
    }
  }

  /** Hexadecimal bytes, sixteen a line. */
  private static String hex(ByteBuffer buffer) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < buffer.capacity(); i++) {
      text.append(i % 16 == 0 ? (i == 0 ? "  " : "\n  ") : " ");
      text.append(HexFormat.of().toHexDigits(buffer.get(i)));
    }
    return text.toString();
  }

  private static Map<String, String> readGolden() throws IOException {
    Map<String, String> golden = new LinkedHashMap<>();
    String name = null;
    for (String line : goldenText().lines().toList()) {
      if (line.startsWith("#") || line.isBlank()) {
        continue;
      }
      if (line.startsWith(" ")) {
        golden.merge(name, line, (before, more) -> before.isEmpty() ? more : before + "\n" + more);
      } else {
        name = line;
        golden.put(name, "");
      }
    }
    return golden;
  }

  private static String goldenText() throws IOException {
    if (Boolean.getBoolean("crail.golden.update")) {
      return Files.readString(goldenSource());
    }
    try (InputStream in = NameNodeOperationsTest.class.getResourceAsStream(GOLDEN)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static Path goldenSource() {
    return Path.of("src/test/resources/io/crail/protocol", GOLDEN);
  }

  private static void update(Map<String, String> golden) throws IOException {
    StringBuilder text =
        new StringBuilder(
            "# The bytes of one message of each kind, as they have to stay: number, operation and\n"
                + "# kind, then hexadecimal bytes. Numeric fields count upwards from 01, texts"
                + " are\n"
                + "# the names of their fields, lists have two elements or one. Frame headers left"
                + " out.\n");
    golden.forEach(
        (name, hex) -> text.append('\n').append(name).append('\n').append(hex).append('\n'));
    Files.writeString(goldenSource(), text.toString());
  }
}
