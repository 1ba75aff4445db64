/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static io.crail.tool.YamlFiles.at;
import static io.crail.tool.YamlFiles.documents;
import static io.crail.tool.YamlFiles.list;
import static io.crail.tool.YamlFiles.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.namenode.conf.Durability;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.tool.metrics.MetricsKeys;
import io.crail.tool.server.DatanodeCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** The files of deploy/: they can be read, and name only what is there. */
@Tag("once")
class DeploymentTest {
  private static final Path DEPLOY = Path.of("..", "deploy");
  private static final Path COMPOSE = DEPLOY.resolve("container/compose.yaml");
  private static final Path KUBERNETES = DEPLOY.resolve("kubernetes/crail.yaml");
  private static final Path DURABLE = DEPLOY.resolve("container/durable.yaml");
  private static final Path KUSTOMIZATION = DEPLOY.resolve("kubernetes/kustomization.yaml");
  private static final Path DOCKERFILE = DEPLOY.resolve("container/Dockerfile");

  private static final String CONTAINER = "spec/template/spec/containers/0";

  /** A command of Crail in a line, or as the first of a container's arguments. */
  private static final Pattern COMMAND = Pattern.compile("(?:bin/|[' ])crail ([a-z]+)");

  @TempDir private Path directory;

  /** The objects of Kubernetes, by kind and name. */
  private static Map<String, Object> objects() throws IOException {
    Map<String, Object> objects = new TreeMap<>();
    for (Object document : documents(KUBERNETES)) {
      objects.put(text(document, "kind") + " " + text(document, "metadata/name"), document);
    }
    return objects;
  }

  /** Each list that stands somewhere below one of these names. */
  private static void collect(Object yaml, String name, List<List<?>> found) {
    if (yaml instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> {
            if (key.equals(name) && value instanceof List<?> list) {
              found.add(list);
            }
            collect(value, name, found);
          });
    } else if (yaml instanceof List<?> list) {
      list.forEach(value -> collect(value, name, found));
    }
  }

  private static Configuration configuration(String site) throws IOException {
    Path file = Files.createTempFile("crail-site", ".conf");
    try {
      Files.writeString(file, site);
      return Configuration.builder().load(file, name -> null).build();
    } finally {
      Files.delete(file);
    }
  }

  private static int metricsPort(String site) throws IOException {
    return MetricsKeys.candidates(configuration(site).get(MetricsKeys.ADDRESS)).get(0).getPort();
  }

  /** The value of an option of the JVM. */
  private static long option(String options, String begin) {
    Matcher option = Pattern.compile("(?:^| )" + begin + "(\\S+)").matcher(options);
    assertTrue(option.find(), () -> begin + " in " + options);
    return bytes(option.group(1));
  }

  private static long bytes(String text) {
    return ConfigType.BYTES.parse(text.replaceAll("i$", "").toLowerCase(Locale.ROOT));
  }

  @Test
  void everyCommandExists() throws IOException {
    TreeSet<String> unknown = new TreeSet<>();
    List<List<?>> commands = new ArrayList<>();
    for (Path file : List.of(COMPOSE, DURABLE, KUBERNETES)) {
      documents(file).forEach(document -> collect(document, "command", commands));
    }
    int found = 0;
    List<String> lines = new ArrayList<>();
    for (List<?> command : commands) {
      // In a compose file the image's entry point, crail, comes before it.
      boolean whole = command.get(0).toString().matches("crail|/bin/bash");
      lines.add(
          " "
              + (whole ? "" : "crail ")
              + String.join(" ", command.stream().map(Object::toString).toList()));
    }
    try (Stream<Path> units = Files.list(DEPLOY.resolve("systemd"))) {
      for (Path unit : units.toList()) {
        lines.addAll(
            Files.readAllLines(unit).stream().filter(line -> line.startsWith("Exec")).toList());
      }
    }
    for (String line : lines) {
      for (Matcher command = COMMAND.matcher(line); command.find(); found++) {
        if (!Launcher.hasCommand(command.group(1))) {
          unknown.add(line);
        }
      }
    }
    assertEquals(new TreeSet<>(), unknown);
    assertTrue(found >= lines.size(), lines::toString);
  }

  @Test
  void portsAndAddressesAreTheUsualOnes() throws IOException {
    Map<String, Object> objects = objects();
    int dataPort = Integer.parseInt(TcpStorageKeys.PORT.defaultText());
    String site = text(objects.get("ConfigMap crail"), "data/crail-site.conf");
    int port = configuration(site).get(ClusterKeys.NAMENODE_ADDRESS).get(0).getPort();
    String containers = Files.readString(DEPLOY.resolve("container/crail-site.conf"));
    assertEquals(
        port, configuration(containers).get(ClusterKeys.NAMENODE_ADDRESS).get(0).getPort());
    String container = CONTAINER + "/";
    Object namenode = objects.get("StatefulSet crail-namenode");
    Object datanode = objects.get("DaemonSet crail-datanode");
    assertEquals(port, at(namenode, container + "ports/0/containerPort"));
    assertEquals(port, at(objects.get("Service crail-namenode"), "spec/ports/0/port"));
    assertEquals(dataPort, at(datanode, container + "ports/0/containerPort"));
    int metrics = metricsPort(site);
    assertEquals(metrics, at(objects.get("Service crail-namenode"), "spec/ports/1/port"));
    assertEquals(metrics, at(namenode, container + "ports/1/containerPort"));
    assertEquals(metrics, at(datanode, container + "ports/1/containerPort"));
    assertTrue(
        Files.readString(DOCKERFILE).contains("EXPOSE " + port + " " + dataPort + " " + metrics));
    assertEquals(metrics, metricsPort(containers));
    assertEquals(
        "127.0.0.1:" + metrics + ":" + metrics,
        at(documents(COMPOSE).get(0), "services/namenode/ports/0"));
    // As many namenodes as there are addresses, under the names that their pods have.
    assertEquals(
        configuration(site).get(ClusterKeys.NAMENODE_ADDRESS).size(),
        at(namenode, "spec/replicas"));
    assertTrue(
        site.contains(
            text(namenode, "metadata/name") + "-0." + text(namenode, "spec/serviceName") + ":"),
        site);
  }

  @Test
  void lentMemoryFitsIntoTheContainer() throws IOException {
    Object datanode = objects().get("DaemonSet crail-datanode");
    List<?> command = (List<?>) at(datanode, "spec/template/spec/containers/0/command");
    long lends = bytes(command.get(command.indexOf("-s") + 1).toString());
    long volume = bytes(text(datanode, "spec/template/spec/volumes/2/emptyDir/sizeLimit"));
    long limit = bytes(text(datanode, "spec/template/spec/containers/0/resources/limits/memory"));
    assertTrue(lends < volume && volume + (1L << 30) < limit, lends + " " + volume + " " + limit);
    Object compose = documents(COMPOSE).get(0);
    List<?> arguments = (List<?>) at(compose, "services/datanode/command");
    assertTrue(
        bytes(arguments.get(arguments.indexOf("-s") + 1).toString())
            < bytes(text(compose, "services/datanode/shm_size")));
  }

  /** Its heap, its direct memory, and 1 GiB for the rest of it and a command in its container. */
  @Test
  void aNamenodeFitsIntoItsContainer() throws IOException {
    Object namenode = at(objects().get("StatefulSet crail-namenode"), CONTAINER);
    String options = text(namenode, "env/0/value");
    assertEquals("CRAIL_NAMENODE_OPTS", at(namenode, "env/0/name"));
    long limit = bytes(text(namenode, "resources/limits/memory"));
    long most = option(options, "-Xmx") + option(options, "-XX:MaxDirectMemorySize=") + (1L << 30);
    assertTrue(most <= limit, most + " " + limit);
    assertEquals(limit, bytes(text(namenode, "resources/requests/memory")));
  }

  /** It ends with 0, or not at all, and nothing starts another one in its place. */
  @Test
  void aRemovedDatanodeStaysAway() throws Exception {
    assertEquals("on-failure", at(documents(COMPOSE).get(0), "services/datanode/restart"));
    String unit = Files.readString(DEPLOY.resolve("systemd/crail-datanode@.service"));
    assertTrue(unit.contains("\nRestart=on-failure\n"), unit);
    // Kubernetes starts again whatever ends.
    List<String> command =
        list(objects().get("DaemonSet crail-datanode"), CONTAINER + "/command").stream()
            .map(Object::toString)
            .toList();
    assertEquals(List.of("crail", "datanode"), command.subList(0, 2));
    List<String> arguments = command.subList(2, command.size());
    assertTrue(new DatanodeCommand().parse(arguments).hasOption("stay"), arguments::toString);
  }

  /** The settings in the words of a command line, which are of keys that there are. */
  private static Configuration settings(List<String> words) {
    Configuration.Builder builder = Configuration.builder();
    for (int i = 0; i < words.size(); i++) {
      if (words.get(i).equals("--set")) {
        String[] setting = words.get(i + 1).split("=", 2);
        builder.set(setting[0], setting[1], "the command line");
      }
    }
    return builder.build();
  }

  /** By choice; what everybody gets keeps nothing. */
  @Test
  void metadataThatSurviveHaveAPlace() throws IOException {
    Object composed = at(documents(DURABLE).get(0), "services/namenode");
    List<String> words = list(composed, "command").stream().map(Object::toString).toList();
    assertEquals(Durability.SYNC, settings(words).get(NameNodeKeys.DURABILITY));
    String path = settings(words).get(NameNodeKeys.DATA_PATH);
    String volume = text(composed, "volumes/0");
    assertEquals(path, volume.replaceAll(".*:", ""));
    Map<?, ?> volumes = (Map<?, ?>) at(documents(DURABLE).get(0), "volumes");
    assertTrue(volumes.containsKey(volume.replaceAll(":.*", "")), volumes::toString);
    // Else the volume would be root's.
    assertTrue(
        Files.readString(DOCKERFILE).contains("install -d -o crail -g crail -m 0700 " + path));
    String unit = Files.readString(DEPLOY.resolve("systemd/crail-namenode@.service"));
    assertEquals("/var/lib/crail", path);
    assertTrue(unit.contains("\nStateDirectory=crail\n"), unit);
    for (Path file : List.of(COMPOSE, KUBERNETES, DEPLOY.resolve("container/crail-site.conf"))) {
      assertTrue(!Files.readString(file).contains("durability"), file.toString());
    }
  }

  /** What {@code kubectl apply -k} changes, which has to be there. */
  @Test
  void theVolumeOfANamenodeFitsItsPod() throws IOException {
    Object kustomization = documents(KUSTOMIZATION).get(0);
    assertEquals(List.of(KUBERNETES.getFileName().toString()), list(kustomization, "resources"));
    assertEquals(1, list(kustomization, "patches").size());
    Object patch = new Yaml().load(text(kustomization, "patches/0/patch"));
    Object namenode =
        objects()
            .get(
                text(kustomization, "patches/0/target/kind")
                    + " "
                    + text(kustomization, "patches/0/target/name"));
    for (String same : List.of("kind", "apiVersion", "metadata/name", CONTAINER + "/name")) {
      assertEquals(at(namenode, same), at(patch, same));
    }
    String command = text(patch, CONTAINER + "/command/2");
    // It does what the usual one does, with two settings more.
    assertTrue(command.startsWith(text(namenode, CONTAINER + "/command/2") + " --set "), command);
    Configuration set = settings(List.of(command.split(" ")));
    assertEquals(Durability.SYNC, set.get(NameNodeKeys.DURABILITY));
    assertEquals(
        set.get(NameNodeKeys.DATA_PATH), text(patch, CONTAINER + "/volumeMounts/0/mountPath"));
    assertEquals(
        text(patch, "spec/volumeClaimTemplates/0/metadata/name"),
        text(patch, CONTAINER + "/volumeMounts/0/name"));
    int seconds =
        (int) at(patch, CONTAINER + "/startupProbe/failureThreshold")
            * (int) at(namenode, CONTAINER + "/startupProbe/periodSeconds");
    assertEquals(3_600, seconds, "how long it may read its log");
  }

  @Test
  void theImageHasWhatItCopies() throws IOException {
    TreeSet<String> missing = new TreeSet<>();
    // Those of the layout; the test of its page says that they are there.
    List<String> made = List.of("lib");
    for (String line : Files.readAllLines(DOCKERFILE)) {
      if (line.startsWith("COPY ")) {
        String[] words = line.split(" ");
        for (int i = 1; i < words.length - 1; i++) {
          if (!made.contains(words[i]) && !Files.exists(Path.of("..", words[i]))) {
            missing.add(words[i]);
          }
        }
      }
    }
    assertEquals(new TreeSet<>(), missing);
    assertTrue(Files.readString(DOCKERFILE).contains("\nUSER 10001"), "not as root");
  }

  /** With this clone in place of /opt/crail, since the program of a unit has to be there. */
  @Test
  void systemdAcceptsTheUnits() throws Exception {
    Path program = Path.of("/usr/bin/systemd-analyze");
    Assumptions.assumeTrue(Files.isExecutable(program), "systemd-analyze is not installed");
    String clone = Path.of("..").toRealPath().toString();
    List<String> command = new ArrayList<>(List.of(program.toString(), "verify", "--man=no"));
    try (Stream<Path> units = Files.list(DEPLOY.resolve("systemd"))) {
      for (Path unit : units.toList()) {
        Path copy = directory.resolve(unit.getFileName());
        String text = Files.readString(unit);
        assertTrue(text.contains("=/opt/crail/bin/crail "), text);
        Files.writeString(copy, text.replace("=/opt/crail/", "=" + clone + "/"));
        command.add(copy.toString());
      }
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    // Of a directive that it does not know it only warns. Other units of this host do not matter.
    assertEquals(
        List.of(), said.lines().filter(line -> line.contains(directory.toString())).toList());
  }
}
