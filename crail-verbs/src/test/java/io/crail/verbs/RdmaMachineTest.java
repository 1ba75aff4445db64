/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The library on real devices: the effects of limits and permissions. */
@Tag("rdma")
class RdmaMachineTest {
  private static final Path LIBRARY = Library.file().getParent();

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
