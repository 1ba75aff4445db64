/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests hooks with real programs. */
@Timeout(60)
class HookProcessTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  @TempDir private Path directory;

  private final List<String> lines = new CopyOnWriteArrayList<>();

  private HookProcess start(String line, Duration deadline) throws IOException {
    return start(line, deadline, false);
  }

  private HookProcess start(String line, Duration deadline, boolean spares) throws IOException {
    return HookProcess.start(
        line, Map.of("CRAIL_SCALE_NAMES", "a b"), deadline, spares, lines::add);
  }

  private static void await(HookProcess hook) throws InterruptedException {
    while (!hook.isEnded()) {
      Thread.sleep(10);
    }
  }

  @Test
  void itHasItsVariablesAndItsOutputIsSeen() throws Exception {
    HookProcess hook = start("for each in $CRAIL_SCALE_NAMES; do echo start $each; done", LONG);
    await(hook);
    assertTrue(hook.isEnded());
    assertEquals(Optional.empty(), hook.failure());
    assertEquals(List.of("start a", "start b"), lines);
    assertEquals("start b", hook.lastLine());
  }

  @Test
  void aFailureSaysWhatWasPrintedLast() throws Exception {
    HookProcess hook = start("echo no room >&2; exit 3", LONG);
    await(hook);
    assertEquals(Optional.of("the hook has ended with 3: no room"), hook.failure());
  }

  @Test
  void oneThatHangsIsEndedAtItsDeadlineWithAllThatItHasStarted() throws Exception {
    Path pid = directory.resolve("pid");
    HookProcess hook = start("sleep 50 & echo $! >" + pid + "; wait", Duration.ofMillis(1500));
    await(hook);
    // The shell may still say that its child was killed.
    String failure = hook.failure().orElseThrow();
    assertTrue(failure.startsWith("the hook has not ended within 1 s"), failure);
    long child = Long.parseLong(Files.readString(pid).strip());
    while (ProcessHandle.of(child).map(ProcessHandle::isAlive).orElse(false)) {
      Thread.sleep(10);
    }
  }

  @Test
  void whatAHangingStartHasStartedMayHaveData() throws Exception {
    Path pid = directory.resolve("pid");
    HookProcess hook =
        start(
            "sleep 50 >/dev/null 2>&1 & echo $! >" + pid + "; wait", Duration.ofMillis(1500), true);
    await(hook);
    assertEquals(Optional.of("the hook has not ended within 1 s"), hook.failure());
    assertTrue(hook.isEnded());
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
    assertTrue(child.isAlive());
    child.destroyForcibly();
    assertFalse(child.onExit().get().isAlive());
  }

  @Test
  void whatItLeavesInTheBackgroundLivesOn() throws Exception {
    Path pid = directory.resolve("pid");
    HookProcess hook = start("sleep 50 >/dev/null 2>&1 & echo $! >" + pid, LONG);
    await(hook);
    assertEquals(Optional.empty(), hook.failure());
    ProcessHandle child =
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
    assertTrue(child.isAlive());
    child.destroyForcibly();
    assertFalse(child.onExit().get().isAlive());
  }
}
