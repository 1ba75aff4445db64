/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM without RDMA continues, and can say what is missing. */
class AvailabilityTest {
  @TempDir Path directory;

  /** The answer of a JVM with that directory as its library path. */
  static String answer(Path libraryPath, long bytes, String... before) throws Exception {
    List<String> command = new ArrayList<>(List.of(before));
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-Djava.library.path=" + libraryPath,
            "-cp",
            System.getProperty("java.class.path"),
            AvailabilityProgram.class.getName(),
            Long.toString(bytes)));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), output);
    // Before the answer, a JVM may warn of a file that is not a library.
    return output.substring(output.stripTrailing().lastIndexOf('\n') + 1);
  }

  static void assertSays(String expected, String answer) {
    assertTrue(answer.startsWith("false ") && answer.contains(expected), answer);
  }

  @Test
  void saysThatTheLibraryIsNotThere() throws Exception {
    assertSays("libdisni.so is not on java.library.path (" + directory, answer(directory, 0));
  }

  @Test
  void saysWhyTheLibraryCannotBeLoaded() throws Exception {
    Files.writeString(directory.resolve("libdisni.so"), "this is no library");
    String answer = answer(directory, 0);
    assertSays(directory.resolve("libdisni.so") + " cannot be loaded: ", answer);
    assertTrue(answer.contains("librdmacm"), answer);
  }

  @Test
  void refusesAnotherLibraryOfThatName() throws Exception {
    Path other = Path.of(System.getProperty("java.home"), "lib", "libverify.so");
    Files.copy(other, directory.resolve("libdisni.so"));
    assertSays("is not that of this version of Crail", answer(directory, 0));
  }

  @Test
  void saysThatThereIsNoDeviceOrThatAllIsWell() throws Exception {
    String answer = answer(Library.file().getParent(), 0);
    assertTrue(
        answer.startsWith("true ") || answer.startsWith("false there is no RDMA device"), answer);
  }

  @Test
  void neverThrowsInThisJvm() {
    Availability availability = Availability.check(Long.MAX_VALUE - 1);
    assertEquals(availability.usable(), availability.problem().isEmpty());
    assertFalse(availability.usable() && availability.devices().isEmpty());
  }
}
