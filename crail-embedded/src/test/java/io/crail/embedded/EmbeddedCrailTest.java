/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.storage.StorageKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EmbeddedCrailTest {
  private static final int LENGTH = 3_000_000;

  @TempDir Path dataPath;

  private EmbeddedCrail.Builder small() {
    return EmbeddedCrail.builder().dataPath(dataPath).storage(32 << 20);
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(dataPath)) {
      return files.toList();
    }
  }

  /** Crail's threads that have not ended. */
  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("crail"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static void assertNoThreads() throws InterruptedException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!threads().isEmpty() && System.nanoTime() - deadline < 0) {
      Thread.sleep(10);
    }
    assertEquals(Set.of(), threads());
  }

  private static void writeAndRead(Configuration configuration, String path) throws Exception {
    CrailStore store = CrailStore.newInstance(CrailConfiguration.of(configuration));
    try {
      byte[] bytes = new byte[LENGTH];
      for (int i = 0; i < LENGTH; i++) {
        bytes[i] = (byte) (i * 31);
      }
      CrailNode file =
          store
              .create(
                  path,
                  CrailNodeType.DATAFILE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true)
              .get(60, TimeUnit.SECONDS);
      try (CrailBufferedOutputStream out = file.asFile().getBufferedOutputStream(LENGTH)) {
        out.write(bytes);
      }
      CrailNode found = store.lookup(path).get(60, TimeUnit.SECONDS);
      try (CrailBufferedInputStream in = found.asFile().getBufferedInputStream(LENGTH)) {
        assertArrayEquals(bytes, in.readAllBytes());
      }
    } finally {
      store.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void storesBytesAndLeavesNothingBehind(boolean mapped) throws Exception {
    for (int round = 0; round < 3; round++) {
      try (EmbeddedCrail crail = small().mapped(mapped).start()) {
        writeAndRead(crail.configuration(), "/file");
        assertFalse(files().isEmpty());
      }
      assertEquals(List.of(), files());
    }
    assertNoThreads();
  }

  @Test
  void severalLiveBesideEachOther() throws Exception {
    try (EmbeddedCrail one = small().start();
        EmbeddedCrail two = small().namenodes(2).datanodes(3).start()) {
      assertEquals(2, two.namenodeAddresses().size());
      assertEquals(3, two.datanodeCount());
      writeAndRead(one.configuration(), "/same");
      writeAndRead(two.configuration(), "/same");
      two.close();
      writeAndRead(one.configuration(), "/other");
    }
    assertEquals(List.of(), files());
  }

  @Test
  void datanodesComeAndGo() throws Exception {
    try (EmbeddedCrail crail = small().datanodes(0).start()) {
      int first = crail.startDatanode(0);
      writeAndRead(crail.configuration(), "/first");
      crail.startDatanode(0);
      crail.stopDatanode(first);
      assertEquals(1, files().size());
    }
  }

  @Test
  void restartedNamenodeIsEmptyAndFindsItsDatanodes() throws Exception {
    try (EmbeddedCrail crail =
        small()
            .set("crail.storage.keepalive", "500ms")
            .set("crail.namenode.freemargin", "200ms")
            .start()) {
      writeAndRead(crail.configuration(), "/before");
      crail.restartNamenode(0);
      CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
      try {
        assertNull(store.lookup("/before").get(60, TimeUnit.SECONDS));
      } finally {
        store.close();
      }
      long deadline = System.nanoTime() + 60_000_000_000L;
      for (int i = 0; ; i++) {
        try {
          writeAndRead(crail.configuration(), "/after-" + i);
          break;
        } catch (IOException e) {
          // There is no space until the datanode has noticed the restart and its space has rested.
          assertTrue(System.nanoTime() - deadline < 0, e.toString());
          Thread.sleep(50);
        }
      }
    }
  }

  @Test
  void failedStartLeavesNothingBehind() throws Exception {
    assertThrows(ConfigException.class, () -> small().set("crail.nothing", "1").start());
    assertThrows(ConfigException.class, () -> small().set("crail.storage.types", "pigeon").start());
    assertEquals(List.of(), files());
    assertNoThreads();
  }

  @Test
  void aFailedCloseClosesTheOthers() {
    List<String> ended = new ArrayList<>();
    IllegalStateException first = new IllegalStateException("first");
    IllegalStateException second = new IllegalStateException("second");
    RuntimeException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                EmbeddedCrail.runAll(
                    List.of(
                        () -> ended.add("a"),
                        () -> {
                          throw first;
                        },
                        () -> ended.add("b"),
                        () -> {
                          throw second;
                        },
                        () -> ended.add("c"))));
    assertSame(first, thrown);
    assertArrayEquals(new Throwable[] {second}, thrown.getSuppressed());
    assertEquals(List.of("a", "b", "c"), ended);
  }

  @Test
  void theDirectoryThatItChoseGoesWithIt() throws Exception {
    EmbeddedCrail crail = EmbeddedCrail.builder().storage(16 << 20).start();
    Path place = crail.place();
    try {
      assertTrue(Files.isDirectory(place));
    } finally {
      crail.close();
    }
    try (Stream<Path> left = Files.list(place)) {
      // It stays only while another cluster of this user uses it.
      assertTrue(left.findAny().isPresent(), place + " is empty and still there");
    } catch (NoSuchFileException e) {
      assertFalse(Files.exists(place));
    }
  }

  @Test
  void closingTwiceIsHarmless() throws Exception {
    EmbeddedCrail crail = small().start();
    crail.close();
    crail.close();
  }

  @Test
  void settingsOfTheJvmGoBehindThoseOfTheBuilder() throws Exception {
    String before = System.getProperty(EmbeddedCrail.SETTINGS_PROPERTY);
    try {
      System.setProperty(
          EmbeddedCrail.SETTINGS_PROPERTY, "crail.storage.localmap=false  crail.blocksize=64k");
      try (EmbeddedCrail crail = small().set("crail.blocksize", "128k").start()) {
        assertFalse(crail.configuration().get(StorageKeys.LOCAL_MAP));
        assertEquals("128k", crail.configuration().texts().get("crail.blocksize"));
      }
      System.setProperty(EmbeddedCrail.SETTINGS_PROPERTY, "crail.storage.localmap");
      String told = assertThrows(IllegalArgumentException.class, this::small).getMessage();
      assertTrue(told.contains("crail.storage.localmap"), told);
      System.setProperty(EmbeddedCrail.SETTINGS_PROPERTY, "crail.storage.localmop=true");
      told = assertThrows(ConfigException.class, () -> small().start()).getMessage();
      assertTrue(told.startsWith("-D" + EmbeddedCrail.SETTINGS_PROPERTY), told);
    } finally {
      if (before == null) {
        System.clearProperty(EmbeddedCrail.SETTINGS_PROPERTY);
      } else {
        System.setProperty(EmbeddedCrail.SETTINGS_PROPERTY, before);
      }
    }
  }
}
