/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code bin/rdma-vm run --native} on a host that has devices: the test machine itself. */
@Tag("rdma")
@Timeout(120)
class RdmaNativeTest {
  private String before;

  private static final String SHOW = "rdma link; ip -o addr; ip rule; ip -6 rule; ip route";

  /**
   * How a command has ended.
   *
   * @param output and errors
   */
  private record End(int status, String output) {}

  private static End run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    return new End(process.exitValue(), output);
  }

  private static End nativelyRun(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(Path.of("..", "bin", "rdma-vm").toString(), "run", "--native"));
    command.addAll(List.of(arguments));
    return run(command.toArray(new String[0]));
  }

  @BeforeEach
  void look() throws Exception {
    before = run("bash", "-c", SHOW).output;
    assertTrue(before.contains(RdmaHost.SERVER_DEVICE + "/1 state ACTIVE"), before);
  }

  @AfterEach
  void everythingIsAsItWas() throws Exception {
    assertEquals(before, run("bash", "-c", SHOW).output);
  }

  @Test
  void aCommandHasTheDevicesThatThereAre() throws Exception {
    End end =
        nativelyRun(
            "--timeout",
            "50",
            "--",
            "bash",
            "-c",
            "rping -s -a $0 -p 7175 -C 3 & server=$!;"
                + "until rping -c -a $0 -p 7175 -C 3 -v; do sleep 0.2; done;"
                + "wait $server; echo \"limit $(ulimit -l)\"; exit 3",
            RdmaHost.SERVER);
    assertEquals(3, end.status, end.output);
    assertTrue(end.output.contains("ping data: rdma-ping-2"), end.output);
    assertTrue(end.output.contains("limit unlimited"), end.output);
  }

  @Test
  void itsTimeIsLimited() throws Exception {
    assertEquals(124, nativelyRun("--timeout", "1", "--", "sleep", "50").status);
  }

  @Test
  void aTargetForNvmeIsNotMadeOnAHost() throws Exception {
    End end = nativelyRun("--nvmet", "--", "true");
    assertEquals(125, end.status, end.output);
    assertTrue(end.output.contains("--nvmet is for the guest only"), end.output);
  }
}
