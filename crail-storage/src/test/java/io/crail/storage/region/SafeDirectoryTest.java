/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.ProcessUser;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What other users of a host can put in the place of a datanode's files. */
class SafeDirectoryTest {
  private static final int OTHER = 12345;

  @TempDir Path directory;
  private Path mine;

  @BeforeEach
  void make() throws IOException {
    mine = Files.createDirectory(directory.resolve("mine"), SafeDirectory.DIRECTORY_RIGHTS);
    Files.writeString(mine.resolve("id"), "mine");
  }

  private static void give(Path path, int user) throws IOException {
    assumeTrue(ProcessUser.id() == 0, "only root may give files to others");
    Files.setAttribute(path, "unix:uid", user, LinkOption.NOFOLLOW_LINKS);
  }

  private static void setRights(Path path, int rights) throws IOException {
    Files.setAttribute(path, "unix:mode", rights);
  }

  private static String read(Path path) throws IOException {
    try (SafeDirectory open = SafeDirectory.ofUser(path)) {
      return open.read("id");
    }
  }

  private static void assertRefused(String reason, Executable use) {
    IOException refusal =
        assertTimeoutPreemptively(
            Duration.ofSeconds(30), () -> assertThrows(IOException.class, use));
    assertTrue(refusal.toString().contains(reason), refusal::toString);
  }

  @Test
  void ownDirectoriesAreUsed() throws IOException {
    assertEquals("mine", read(mine));
    try (SafeDirectory open = SafeDirectory.ofUser(mine)) {
      open.write("new", new byte[] {1});
      assertTrue(open.contains("new"));
    }
    assertEquals(
        "rw-------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(mine.resolve("new"))));
  }

  @Test
  void aLinkIsNotFollowed() throws IOException {
    Path victim = Files.writeString(directory.resolve("victim"), "secret");
    Files.delete(mine.resolve("id"));
    Files.createSymbolicLink(mine.resolve("id"), victim);
    assertRefused("is no regular file", () -> read(mine));
  }

  @Test
  void aHardLinkIsNotOpened() throws IOException {
    Path victim = Files.writeString(directory.resolve("victim"), "secret");
    Files.delete(mine.resolve("id"));
    Files.createLink(mine.resolve("id"), victim);
    assertRefused("has 2 names (hard links)", () -> read(mine));
  }

  @Test
  void aPipeIsRefusedAtOnce() throws Exception {
    Files.delete(mine.resolve("id"));
    for (Path pipe : new Path[] {mine.resolve("id"), directory.resolve("pipe")}) {
      assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    }
    assertRefused("is no regular file", () -> read(mine));
    assertRefused("NotDirectoryException", () -> read(directory.resolve("pipe")));
  }

  @Test
  void aLinkToADirectoryIsNone() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("link"), mine);
    assertRefused("NotDirectoryException", () -> read(link));
  }

  @Test
  void aDirectoryThatOthersMayChangeIsRefused() throws IOException {
    for (int rights : new int[] {0770, 0707, 01777}) {
      setRights(mine, rights);
      assertRefused("may be changed by other users: chmod go-w " + mine, () -> read(mine));
    }
    setRights(mine, 0755);
    assertEquals("mine", read(mine));
  }

  @Test
  void anotherUsersDirectoryIsRefused() throws IOException {
    give(mine, OTHER);
    assertRefused(mine + " belongs to user 12345, and this process runs as", () -> read(mine));
  }

  @Test
  void anotherUsersFileIsRefused() throws IOException {
    give(mine.resolve("id"), OTHER);
    assertRefused("id belongs to user 12345", () -> read(mine));
  }

  @Test
  void aSharedDirectoryNeedsTheStickyBitAndAnOwnerToTrust() throws IOException {
    setRights(mine, 0777);
    assertRefused("chmod +t " + mine, () -> SafeDirectory.shared(mine));
    setRights(mine, 01777);
    SafeDirectory.shared(mine).close();
    give(mine, OTHER);
    assertRefused("belongs to user 12345", () -> SafeDirectory.shared(mine));
  }

  /** Between the look at a directory and its use. */
  @Test
  void nothingOfADirectoryIsUsedThatWasExchangedMeanwhile() throws Exception {
    Path theirs = Files.createDirectory(directory.resolve("theirs"));
    Files.writeString(theirs.resolve("id"), "evil");
    give(theirs.resolve("id"), OTHER);
    give(theirs, OTHER);
    Path place = directory.resolve("place");
    AtomicBoolean over = new AtomicBoolean();
    Thread attacker =
        new Thread(
            () -> {
              while (!over.get()) {
                exchange(mine, place);
                exchange(theirs, place);
              }
            });
    attacker.start();
    int used = 0;
    int refused = 0;
    try {
      long endNanos = System.nanoTime() + 60_000_000_000L;
      while ((used < 200 || refused < 200) && System.nanoTime() - endNanos < 0) {
        try {
          assertEquals("mine", read(place));
          used++;
        } catch (IOException e) {
          refused++;
        }
      }
    } finally {
      over.set(true);
      attacker.join();
    }
    assertTrue(used > 0 && refused > 0, used + " used, " + refused + " refused");
  }

  private static void exchange(Path directory, Path place) {
    if (directory.toFile().renameTo(place.toFile())) {
      Thread.yield();
      place.toFile().renameTo(directory.toFile());
    }
  }

  @Test
  void aChannelIsOfTheFileThatWasChecked() throws IOException {
    try (SafeDirectory open = SafeDirectory.ofUser(mine)) {
      // The directory is another one by now; what was opened is used.
      Path moved = Files.move(mine, directory.resolve("moved"));
      Files.createDirectory(mine, SafeDirectory.DIRECTORY_RIGHTS);
      Files.writeString(mine.resolve("id"), "evil");
      assertRefused("was exchanged", () -> open.open("id", StandardOpenOption.READ));
      Files.delete(mine.resolve("id"));
      Files.delete(mine);
      Files.move(moved, mine);
      try (FileChannel channel = open.open("id", StandardOpenOption.READ)) {
        assertEquals(4, channel.size());
      }
    }
  }

  /** Makes the directory of a datanode, and prints what it is and who may use it. */
  static final class Maker {
    private Maker() {}

    public static void main(String[] args) throws IOException {
      Path dataPath = Path.of(args[0]);
      try (RegionDirectory made =
          RegionDirectory.create(dataPath, UUID.randomUUID(), java.util.List.of(1 << 20), true)) {
        print(dataPath);
        print(made.path());
        try (var files = Files.list(made.path())) {
          for (Path file : files.toList()) {
            print(file);
          }
        }
      }
    }

    private static void print(Path path) throws IOException {
      System.out.println(
          PosixFilePermissions.toString(Files.getPosixFilePermissions(path))
              + (Files.isDirectory(path) ? " directory" : " file"));
    }
  }

  @Test
  void onlyTheUserHasRightsWhateverTheUmask() throws Exception {
    for (String umask : new String[] {"000", "077"}) {
      ProcessBuilder builder =
          new ProcessBuilder(
              "sh",
              "-c",
              "umask " + umask + "; exec \"$@\"",
              "sh",
              System.getProperty("java.home") + "/bin/java",
              "-XX:TieredStopAtLevel=1",
              "-cp",
              System.getProperty("java.class.path"),
              Maker.class.getName(),
              directory.resolve("data" + umask).toString());
      Path output = directory.resolve("output" + umask);
      builder.redirectErrorStream(true).redirectOutput(output.toFile());
      assertEquals(0, builder.start().waitFor(), () -> text(output));
      String text = text(output);
      assertTrue(text.lines().filter("rwx------ directory"::equals).count() == 2, text);
      // Identity, heartbeat, lock, hazards, socket, and three files of the region.
      assertTrue(text.lines().filter("rw------- file"::equals).count() == 8, text);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
