/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** The library on real devices: its C tests, and the effects of limits and permissions. */
@Tag("rdma")
class RdmaMachineTest {
  private static final Path LIBRARY = Library.file().getParent();

  @Test
  @DisabledIfSystemProperty(
      named = "crail.test.rdma.device",
      matches = ".*",
      disabledReason = "needs the two hosts of bin/rdma-vm")
  void allTestsInCPass() throws Exception {
    Path program = LIBRARY.resolve("verbs-tests");
    assumeTrue(Files.exists(program), "the C tests are not built (make -C crail-verbs check)");
    Process tests =
        new ProcessBuilder("timeout", "-s", "KILL", "60", program.toString(), "--rdma")
            .redirectErrorStream(true)
            .start();
    String output = new String(tests.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, tests.waitFor(), output);
  }

  /** Slow: both the machine and the sanitizers cost time. */
  @Test
  void disniAndDarpcPassUnderTheSanitizers() throws Exception {
    assumeTrue(Boolean.getBoolean("crail.test.long"), "only among the long tests");
    Sanitizers.run(DisniTest.class, QueuePairTest.class);
  }

  @Test
  void saysThatTooLittleMemoryMayBeLocked() throws Exception {
    // Without the right to lock any amount, and with a limit of 64 KiB.
    String[] limited = {
      "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536"
    };
    AvailabilityTest.assertSays(
        "may lock 65536 bytes of memory but means to register 65537",
        AvailabilityTest.answer(LIBRARY, 65537, limited));
    assertTrue(AvailabilityTest.answer(LIBRARY, 65536, limited).startsWith("true "));
  }

  /** In its own mount namespace. */
  private static String answerAfter(String script) throws Exception {
    return AvailabilityTest.answer(
        LIBRARY, 0, "unshare", "-m", "sh", "-c", script + " && exec \"$@\"", "sh");
  }

  @Test
  void saysThatTheDevicesHaveNoFiles() throws Exception {
    String[] devices = Path.of("/sys/class/infiniband").toFile().list();
    Arrays.sort(devices);
    AvailabilityTest.assertSays(
        "the RDMA devices " + Arrays.toString(devices) + " have no files in /dev/infiniband",
        answerAfter("mount -t tmpfs none /dev/infiniband"));
  }

  @Test
  void saysThatTheUserMayNotOpenTheDevices() throws Exception {
    Process look =
        new ProcessBuilder(
                "timeout",
                "-s",
                "KILL",
                "60",
                "setpriv",
                "--reuid=65534",
                "test",
                "-r",
                Library.file().toString())
            .start();
    assumeTrue(look.waitFor() == 0, "other users may not read this clone");
    String answer =
        answerAfter(
            "mount -t tmpfs none /mnt && cp -a /dev/infiniband/. /mnt && chmod 600 /mnt/*"
                + " && mount --bind /mnt /dev/infiniband && set -- setpriv --reuid=65534 \"$@\"");
    AvailabilityTest.assertSays(
        "this user may not open [/dev/infiniband/rdma_cm, /dev/infiniband/uverbs", answer);
  }
}
