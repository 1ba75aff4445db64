/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static io.crail.tool.YamlFiles.at;
import static io.crail.tool.YamlFiles.documents;
import static io.crail.tool.YamlFiles.list;
import static io.crail.tool.YamlFiles.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.server.DatanodeCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The hooks of deploy/scale, with programs in the place of kubectl, systemctl and crail that keep
 * their arguments in files. A real Kubernetes or systemd is not asked.
 */
@Tag("once")
class ScaleHooksTest {
  private static final Path SCALE = Path.of("..", "deploy", "scale").toAbsolutePath().normalize();

  /** Answers what the hook asks, from the files replicas, started and pods. */
  private static final String KUBECTL =
      """
      #!/usr/bin/env bash
      cd "$FAKE"
      echo "$*" >>calls
      case "$*" in
        "get pods -l app=crail-datanode-elastic "*.started*) cat started ;;
        "get pods -l app=crail-datanode-elastic "*) cat pods ;;
        "get statefulset crail-datanode-elastic "*spec.replicas*) cat replicas ;;
        "delete pod "*) ;;
        "scale statefulset crail-datanode-elastic --current-replicas="*)
          [ "$4" = "--current-replicas=$(cat replicas)" ] || exit 1
          echo "${5#--replicas=}" >replicas ;;
        *) echo "unknown: $*"; exit 2 ;;
      esac
      """;

  private static final String SYSTEMCTL =
      """
      #!/usr/bin/env bash
      echo "$*" >>"$FAKE/calls"
      """;

  /** A datanode with the number of its name as its id; 9 does not start. */
  private static final String CRAIL =
      """
      #!/usr/bin/env bash
      if [ "$1" = getconf ]; then
        echo crail://localhost:9060
        exit
      fi
      id=${CRAIL_LOG_FILE##*-}
      id=${id%.log}
      echo "$id $*" >>"$FAKE/calls"
      [ "$id" != 9 ] || exit 1
      echo "datanode id-$id serves 1 GiB on 127.0.0.1:1, registered"
      exec sleep 300
      """;

  @TempDir private Path directory;

  private record Ended(int code, String text) {}

  private Ended run(String hook, Map<String, String> variables) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("bash", SCALE.resolve(hook).toString());
    builder.environment().put("FAKE", directory.toString());
    builder.environment().merge("PATH", "", (path, nothing) -> directory + ":" + path);
    builder.environment().put("CRAIL_SCALE_ETC", directory.toString());
    builder.environment().put("CRAIL_SCALE_CLASS", "0");
    builder.environment().putAll(variables);
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    return new Ended(process.exitValue(), text);
  }

  private void fake(String program, String text) throws IOException {
    Path file = Files.writeString(directory.resolve(program), text);
    assertTrue(file.toFile().setExecutable(true));
  }

  private void cluster(int replicas, int started, String pods) throws IOException {
    fake("kubectl", KUBECTL);
    file("replicas", replicas + "\n");
    file("started", "true\n".repeat(started) + "false\n".repeat(replicas - started));
    file("pods", pods);
    file("calls", "");
  }

  private void file(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }

  private String file(String name) throws IOException {
    return Files.readString(directory.resolve(name)).strip();
  }

  private Ended start(int count, int starting) throws Exception {
    return run(
        "kubernetes",
        Map.of(
            "CRAIL_SCALE_HOOK", "start",
            "CRAIL_SCALE_COUNT", "" + count,
            "CRAIL_SCALE_STARTING", "" + starting));
  }

  @Test
  void podsAreAddedUnlessSomeAreStillToCome() throws Exception {
    cluster(0, 0, "");
    assertEquals(new Ended(0, ""), start(2, 0));
    assertEquals("2", file("replicas"));
    // Of four that do not run yet, the controller waits for two.
    cluster(6, 2, "");
    assertEquals(0, start(3, 2).code());
    assertEquals("7", file("replicas"));
    cluster(6, 2, "");
    assertEquals(0, start(2, 2).code());
    assertEquals("6", file("replicas"));
    // A pod that runs may not have been seen, or is drained.
    cluster(6, 6, "");
    assertEquals(0, start(1, 1).code());
    assertEquals("7", file("replicas"));
  }

  @Test
  void anUnknownHookAndAnotherClassAreRefused() throws Exception {
    cluster(2, 2, "");
    for (String hook : List.of("kubernetes", "systemd", "processes")) {
      Ended unknown = run(hook, Map.of("CRAIL_SCALE_HOOK", "rename"));
      assertEquals(new Ended(2, "unknown hook: rename\n"), unknown);
    }
    Map<String, String> other =
        Map.of(
            "CRAIL_SCALE_HOOK", "start",
            "CRAIL_SCALE_COUNT", "1",
            "CRAIL_SCALE_STARTING", "0",
            "CRAIL_SCALE_CLASS", "1");
    String refusal = "the pods of crail-datanode-elastic serve storage class 0, not 1\n";
    assertEquals(new Ended(2, refusal), run("kubernetes", other));
    assertEquals("", file("calls"));
    Map<String, String> set = new HashMap<>(other);
    set.put("CRAIL_SCALE_SET_CLASS", "1");
    assertEquals(0, run("kubernetes", set).code());
    assertEquals("3", file("replicas"));
  }

  private static final String PODS =
      """
      crail-datanode-elastic-0 10.0.0.3
      crail-datanode-elastic-1 10.0.0.33
      crail-datanode-elastic-2 fd00::5
      """;

  private static final String OF_SYSTEMD = "10.0.0.9:50108 10.0.0.3:50107 10.0.0.3:50108";

  private Ended choose(String addresses) throws Exception {
    return choose("kubernetes", addresses);
  }

  private Ended choose(String hook, String addresses) throws Exception {
    return run(hook, Map.of("CRAIL_SCALE_HOOK", "choose", "CRAIL_SCALE_ADDRESSES", addresses));
  }

  @Test
  void theLastPodIsChosen() throws Exception {
    cluster(2, 2, PODS);
    assertEquals(
        new Ended(0, "10.0.0.33:50020\n"), choose("10.0.0.3:50020 10.0.0.33:50020 10.0.0.9:1"));
    Ended none = choose("10.0.0.3:50020");
    assertEquals(1, none.code());
    assertTrue(none.text().contains("crail-datanode-elastic-1 (10.0.0.33), may not leave"));
    cluster(3, 3, PODS);
    assertEquals(new Ended(0, "[fd00::5]:50020\n"), choose("10.0.0.3:50020 [fd00::5]:50020"));
  }

  private Ended stop(String hook, String host, int port) throws Exception {
    return run(
        hook,
        Map.of(
            "CRAIL_SCALE_HOOK", "stop", "CRAIL_SCALE_HOST", host, "CRAIL_SCALE_PORT", "" + port));
  }

  @Test
  void theLastPodIsEndedAndAnotherOneReplaced() throws Exception {
    cluster(3, 2, PODS);
    Ended replaced = stop("kubernetes", "10.0.0.33", 50020);
    assertEquals(0, replaced.code());
    assertTrue(replaced.text().startsWith("crail-datanode-elastic-1 is not the last of 3 pods"));
    assertTrue(file("calls").endsWith("\ndelete pod crail-datanode-elastic-1"), file("calls"));
    assertEquals("3", file("replicas"));
    assertEquals(0, stop("kubernetes", "fd00::5", 50020).code());
    assertEquals("2", file("replicas"));
    // Asked once more, it ends no other one.
    file("pods", "crail-datanode-elastic-0 10.0.0.3\ncrail-datanode-elastic-1 10.0.0.33\n");
    assertEquals(0, stop("kubernetes", "fd00::5", 50020).code());
    assertEquals("2", file("replicas"));
  }

  @Test
  void unitsOfSystemdAreStartedAndEndedByTheirPorts() throws Exception {
    fake("systemctl", SYSTEMCTL);
    fake("hostname", "#!/bin/sh\necho host 10.0.0.3\n");
    Ended started =
        run(
            "systemd",
            Map.of("CRAIL_SCALE_HOOK", "start", "CRAIL_SCALE_NAMES", "scale-0-7 scale-0-8"));
    assertEquals(new Ended(0, ""), started);
    assertEquals("start crail-datanode@scale-0-7\nstart crail-datanode@scale-0-8", file("calls"));
    String line = file("datanode-scale-0-8.env");
    String arguments = line.replace("CRAIL_DATANODE_ARGUMENTS=", "");
    assertEquals("-c 0 -- -s 1g -p 50108", arguments);
    new DatanodeCommand().parse(List.of(arguments.split(" ")));
    file("calls", "");
    assertEquals(new Ended(0, "10.0.0.3:50107\n"), choose("systemd", OF_SYSTEMD));
    assertEquals(1, choose("systemd", "10.0.0.9:50107 10.0.0.3:50020").code());
    // On another host, it is another one.
    assertEquals(0, stop("systemd", "10.0.0.9", 50108).code());
    assertEquals("", file("calls"));
    assertEquals(0, stop("systemd", "host", 50108).code());
    assertEquals("stop crail-datanode@scale-0-8", file("calls"));
    assertFalse(Files.exists(directory.resolve("datanode-scale-0-8.env")));
    assertTrue(Files.exists(directory.resolve("datanode-scale-0-7.env")));
    file("calls", "");
    assertEquals(0, stop("systemd", "host", 50108).code());
    assertEquals("", file("calls"));
  }

  @Test
  void aPortIsGivenOnceAmongTheUnitsThatAreThere() throws Exception {
    fake("systemctl", SYSTEMCTL);
    file("datanode-scale-0-8.env", "CRAIL_DATANODE_ARGUMENTS=-c 0 -- -s 1g -p 50108\n");
    Map<String, String> later =
        Map.of(
            "CRAIL_SCALE_HOOK", "start",
            "CRAIL_SCALE_CLASS", "1",
            "CRAIL_SCALE_NAMES", "scale-1-8 scale-1-1007 scale-1-1008");
    assertEquals(new Ended(0, ""), run("systemd", later));
    List<String> ports = List.of("scale-1-8 50109", "scale-1-1007 50107", "scale-1-1008 50110");
    for (String each : ports) {
      String[] words = each.split(" ");
      assertEquals(
          "CRAIL_DATANODE_ARGUMENTS=-c 1 -- -s 1g -p " + words[1],
          file("datanode-" + words[0] + ".env"));
    }
  }

  private Ended processes(String hook, String names, String id) throws Exception {
    return run(
        "processes",
        Map.of(
            "CRAIL_HOME",
            directory.toString(),
            "CRAIL_CONF_DIR",
            directory.resolve("conf").toString(),
            "CRAIL_LOG_DIR",
            directory.resolve("logs").toString(),
            "CRAIL_PID_DIR",
            directory.resolve("pids").toString(),
            "CRAIL_SCALE_HOOK",
            hook,
            "CRAIL_SCALE_NAMES",
            names,
            "CRAIL_SCALE_UUID",
            id,
            "CRAIL_SCALE_HOST",
            "127.0.0.1",
            "CRAIL_SCALE_PORT",
            "1",
            "CRAIL_SCALE_DEADLINE",
            "3"));
  }

  private List<Path> filesOf(String name) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> file.toString().matches(".*-" + name + "[.](pid|out)"))
          .sorted(Comparator.comparing(file -> file.toString().endsWith(".out")))
          .toList();
    }
  }

  private ProcessHandle processOf(String name) throws IOException {
    String words = Files.readString(filesOf(name).get(0));
    return ProcessHandle.of(Long.parseLong(words.split(" ")[0])).orElseThrow();
  }

  /** One that has ended stays in the list of processes where its parent never asks. */
  private static boolean isRunning(ProcessHandle process) {
    try {
      return !Files.readString(Path.of("/proc/" + process.pid() + "/stat")).contains(") Z ");
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void processesAreStartedTogetherAndEndedByTheirIds() throws Exception {
    Files.createDirectory(directory.resolve("bin"));
    fake("bin/crail", CRAIL);
    Path scripts = SCALE.resolve("../../libexec").toRealPath();
    Files.createSymbolicLink(directory.resolve("libexec"), scripts);
    List<ProcessHandle> all = new ArrayList<>();
    try {
      Ended started = processes("start", "scale-0-7 scale-0-8", "");
      assertEquals(0, started.code(), started.text());
      for (String name : List.of("scale-0-7", "scale-0-8")) {
        all.add(processOf(name));
      }
      assertTrue(file("calls").contains("7 datanode -c 0 -- -s 1g -p 0"), file("calls"));
      Ended ended = processes("stop", "", "id-7");
      assertEquals(new Ended(0, "scale-0-7 has ended\n"), ended);
      assertFalse(isRunning(all.get(0)));
      assertTrue(isRunning(all.get(1)));
      assertEquals(List.of(), filesOf("scale-0-7"));
      // This one has ended by itself.
      all.get(1).destroy();
      assertEquals(new Ended(0, "scale-0-8 does not run\n"), processes("stop", "", "id-8"));
      assertEquals(List.of(), filesOf("scale-0-8"));
      assertEquals(new Ended(0, ""), processes("stop", "", "id-8"));

      Ended failed = processes("start", "scale-0-9 scale-0-10", "");
      assertEquals(1, failed.code(), failed.text());
      assertTrue(failed.text().contains("scale-0-9 did not start"), failed.text());
      all.add(processOf("scale-0-10"));
      assertTrue(isRunning(all.get(2)));
    } finally {
      all.forEach(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void theSetHasThePodsOfTheOtherDatanodesAndKeepsThoseThatAreDrained() throws Exception {
    Object set = documents(SCALE.resolve("datanodes.yaml")).get(0);
    Object daemons =
        documents(SCALE.resolveSibling("kubernetes").resolve("crail.yaml")).stream()
            .filter(each -> text(each, "kind").equals("DaemonSet"))
            .findFirst()
            .orElseThrow();
    String pod = "spec/template/spec";
    assertEquals(at(daemons, pod), at(set, pod));
    assertEquals("crail-datanode-elastic", text(set, "metadata/name"));
    assertEquals("crail-datanode-elastic", text(set, "spec/template/metadata/labels/app"));
    assertTrue(list(set, pod + "/containers/0/command").contains("--stay"));
  }
}
