/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.namenode.ha.Membership.Records;
import io.crail.protocol.cluster.AskPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a directory says about its peer. */
class MembershipTest {
  private static final Membership NEW = Membership.of(2, -5);
  private static final Membership BEGINS = NEW.begins(List.of(7L, Long.MIN_VALUE, -5L));

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("peer");
  }

  private void requireKept(Membership membership) throws IOException {
    membership.write(directory);
    assertEquals(membership, Membership.read(directory, 2));
  }

  @Test
  void itIsReadAsItWasWritten() throws IOException {
    assertNull(Membership.read(directory.resolve("none"), 2));
    assertNull(Membership.read(directory, 2));
    requireKept(NEW);
    requireKept(BEGINS);
    requireKept(NEW.joining());
    Path group = Files.createDirectories(directory.resolve("group").resolve("current"));
    Files.createFile(group.resolve("raft-meta"));
    requireKept(BEGINS.started());
    requireKept(NEW.joining().started());
    Files.delete(group.resolve("raft-meta"));
    assertNull(Membership.read(directory, 2), "it has lost its votes");
  }

  @Test
  void oneThatIsDamagedOrOfAnotherPeerIsRefused() throws IOException {
    BEGINS.write(directory);
    IOException other = assertThrows(IOException.class, () -> Membership.read(directory, 1));
    assertTrue(other.getMessage().contains("is that of peer 2"), other.getMessage());
    String text = Files.readString(file());
    for (String bad : List.of("peer", "peer x", "number", "begins 7 z", "", "joined")) {
      Files.writeString(file(), text + bad + "\n");
      IOException damaged =
          assertThrows(IOException.class, () -> Membership.read(directory, 2), bad);
      assertTrue(damaged.getMessage().contains(file() + " is damaged"), damaged.getMessage());
    }
  }

  @Test
  void namesTellPeersAndDirectoriesApart() {
    assertEquals(2, Membership.peerOf(NEW.id()));
    assertEquals(NEW.id(), BEGINS.id());
    assertEquals(NEW.id(), Membership.id(2, -5));
    assertNotEquals(NEW.id(), Membership.id(2, -6));
    assertNotEquals(NEW.id(), Membership.id(1, -5));
  }

  @Test
  void onlyAPeerThatHasNothingSaysSo() {
    assertEquals(AskPeer.NOTHING, NEW.answer(Records.NONE).state());
    assertEquals(AskPeer.LONE, NEW.answer(Records.LONE).state());
    assertEquals(AskPeer.SOMETHING, NEW.answer(Records.COPY).state());
    assertEquals(AskPeer.SOMETHING, NEW.joining().answer(Records.LONE).state());
    assertEquals(AskPeer.SOMETHING, BEGINS.answer(Records.LONE).state());
    assertEquals(BEGINS.begun(), BEGINS.answer(Records.NONE).begun());
  }
}
