/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.InvalidPathException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodePathTest {
  @ParameterizedTest
  @CsvSource({
    "/, /",
    "'', /",
    "//, /",
    "a, /a",
    "/a, /a",
    "/a/, /a",
    "//a///b//, /a/b",
    "/a b/c, /a b/c",
    "/..., /...",
    "/.hidden, /.hidden",
    "/what?/now?, /what?/now?",
    "a//b, /a/b",
    "/a//b, /a/b",
    "/a/b/, /a/b",
    "/größe, /größe"
  })
  void parseGivesTheFormOfTheWire(String written, String expected) throws CrailException {
    assertEquals(expected, NodePath.parse(written).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/a/../b", "..", "/.", "/a/.", "/a\0b", "/\uD800", "/a?/b\uD800c", "/a/.b/.."})
  void parseRefuses(String path) {
    assertThrows(InvalidPathException.class, () -> NodePath.parse(path));
  }

  @Test
  void textThatHasLostBytesNamesNothing() {
    CrailException refused =
        assertThrows(InvalidPathException.class, () -> NodePath.parse("/d/\uFFFD\uFFFD"));
    assertTrue(refused.getMessage().contains("LC_ALL=C.UTF-8"), refused.getMessage());
    byte[] sent = Utf8.of("/d/\uFFFD").toByteArray();
    assertThrows(InvalidPathException.class, () -> check(sent));
  }

  @Test
  void plainPathsAreTakenUnchanged() throws CrailException {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String alphabet = "//aZ~.?\0\u007fé";
    int plain = 0;
    for (int i = 0; i < 50_000; i++) {
      StringBuilder text = new StringBuilder("/");
      int length = random.nextInt(30);
      // Mostly ordinary, so that many are plain.
      int ordinary = random.nextInt(4);
      for (int j = 0; j < length; j++) {
        boolean any = random.nextInt(8) >= 2 * ordinary;
        text.append(any ? alphabet.charAt(random.nextInt(alphabet.length())) : 'b');
      }
      String path = text.toString();
      boolean expected = path.matches("(/[\\x01-\\x7f&&[^/?.]][\\x01-\\x7f&&[^/?]]*)+");
      Utf8 parsed = NodePath.parsePlain(path);
      assertEquals(expected, parsed != null, () -> "seed " + seed + ": " + path);
      if (expected) {
        plain++;
        assertEquals(path, parsed.toString());
        assertEquals(parsed, NodePath.parse(path));
        check(parsed.toByteArray());
      }
    }
    assertTrue(plain > 1_000, plain + " are plain");
  }

  @Test
  void limitsAreExact() throws CrailException {
    String longest = "c".repeat(NodePath.MAX_COMPONENT_LENGTH);
    assertEquals("/" + longest, NodePath.parse(longest).toString());
    assertThrows(InvalidPathException.class, () -> NodePath.parse(longest + "c"));
    assertThrows(InvalidPathException.class, () -> NodePath.parse("/" + longest + "c"));
    assertThrows(InvalidPathException.class, () -> NodePath.parse("/" + longest + "c/d"));
    // Two bytes each: the limit counts bytes.
    assertThrows(InvalidPathException.class, () -> NodePath.parse("ä".repeat(128)));

    String path = ("/" + longest).repeat(4);
    assertEquals(NodePath.MAX_LENGTH, path.length());
    assertEquals(path, NodePath.parse(path).toString());
    assertThrows(InvalidPathException.class, () -> NodePath.parse(path + "/d"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "/a/", "//a", "/a//b", "/..", "/a\0"})
  void checkRefusesWhatIsNotInTheFormOfTheWire(String path) {
    assertThrows(InvalidPathException.class, () -> check(Utf8.of(path).toByteArray()));
  }

  @Test
  void checkRefusesWhatIsNotUtf8() {
    assertThrows(InvalidPathException.class, () -> check(new byte[] {'/', (byte) 0xff}));
    assertThrows(InvalidPathException.class, () -> check(new byte[] {'/', (byte) 0xc3}));
    // An overlong slash.
    assertThrows(
        InvalidPathException.class, () -> check(new byte[] {'/', (byte) 0xc0, (byte) 0xaf}));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/a", "/a/b", "/größe/\uD83D\uDE00", "/..."})
  void checkTakesTheFormOfTheWire(String path) {
    assertDoesNotThrow(() -> check(Utf8.of(path).toByteArray()));
  }

  private static void check(byte[] bytes) throws CrailException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes.length + 2);
    buffer.put(1, bytes);
    NodePath.check(buffer, 1, bytes.length);
  }

  @Test
  void aSubtreeLivesOnOneNamenode() {
    for (int count = 1; count < 9; count++) {
      int owner = NodePath.namenodeOf(Utf8.of("/top"), count);
      assertTrue(owner >= 0 && owner < count);
      assertEquals(owner, NodePath.namenodeOf(Utf8.of("/top/a/b"), count));
      assertEquals(0, NodePath.namenodeOf(NodePath.ROOT, count));
    }
  }

  @Test
  void theHashIsPermanent() {
    // Clients of different versions must agree; these are FNV-1a's.
    assertEquals(24, NodePath.namenodeOf(Utf8.of("/a"), 100));
  }

  @Test
  void onlyThePartInBracesCounts() {
    for (int count = 2; count < 9; count++) {
      int owner = NodePath.namenodeOf(Utf8.of("/seven"), count);
      for (String path : List.of("/{seven}", "/a{seven}b", "/{seven}{eight}", "/x{seven}/{y}")) {
        assertEquals(owner, NodePath.namenodeOf(Utf8.of(path), count), path);
      }
    }
    // These have no such part, so that the whole name counts.
    for (String name : List.of("{}", "a{}b", "}{", "{open", "close}")) {
      boolean differs = false;
      for (int count = 2; count < 99; count++) {
        differs |=
            NodePath.namenodeOf(Utf8.of("/" + name), count)
                != NodePath.namenodeOf(Utf8.of("/" + name + "x"), count);
      }
      assertTrue(differs, name);
    }
  }

  @Test
  void aPathFromASpreadDirectoryIsOwnedByItsChild() throws CrailException {
    for (int count = 1; count < 9; count++) {
      Utf8 text = Utf8.of("/a/spread/child/below");
      Utf8 path = SpreadPath.of(Long.MIN_VALUE + 7, "/a/spread".length(), text);
      int owner = NodePath.namenodeOf(Utf8.of("/child"), count);
      assertEquals(owner, NodePath.namenodeOf(path, count));
      assertEquals(text, SpreadPath.text(path));
      assertEquals(0, NodePath.namenodeOf(SpreadPath.of(7, text.length(), text), count));
    }
  }

  @Test
  void aHintIsReadAsItWasWritten() throws CrailException {
    for (long id : new long[] {1, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      SpreadHint hint = new SpreadHint(id, NodePath.parse("/a/with space/c"));
      assertEquals(hint, SpreadHint.of(hint.toString()));
    }
    for (String bad : List.of("", "7", "7 ", "x /a", "7 a", "/a", "7 /a/", "7  /a")) {
      assertNull(SpreadHint.of(bad), bad);
    }
  }

  @Test
  void topLevelNamesSpreadEvenly() {
    int[] hits = new int[4];
    for (int i = 0; i < 4000; i++) {
      hits[NodePath.namenodeOf(Utf8.of("/name-" + i), hits.length)]++;
    }
    for (int hit : hits) {
      assertTrue(hit > 800 && hit < 1200, "of 4000 names one namenode owns " + hit);
    }
  }

  @Test
  void namesAndChildren() {
    assertEquals("/a", NodePath.child("/", "a"));
    assertEquals("/a/b", NodePath.child("/a", "b"));
    assertEquals("b", NodePath.name("/a/b"));
    assertEquals("", NodePath.name("/"));
  }
}
