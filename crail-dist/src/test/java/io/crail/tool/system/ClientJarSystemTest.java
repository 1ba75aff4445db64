/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.epoll.Epoll;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the single jars for Hadoop and Spark programs, together with the libraries that such
 * programs have.
 */
@Tag("once")
class ClientJarSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private static final String HADOOP = "client/crail-hadoop-client-";
  private static final String SPARK = "client/crail-spark-client-";

  private static Path home;

  @BeforeAll
  static void find() {
    String layout = System.getProperty("crail.home");
    Assumptions.assumeTrue(layout != null, "the jars are made with the layout of -Dcrail.home=");
    home = Path.of(layout);
  }

  /** The jar whose path in the layout begins so. */
  private static Path jar(String prefix) throws Exception {
    Path begin = home.resolve(prefix);
    List<Path> jars =
        jars(begin.getParent()).stream()
            .filter(file -> file.toString().startsWith(begin.toString()))
            .toList();
    assertEquals(1, jars.size(), jars.toString());
    return jars.get(0);
  }

  private static List<Path> jars(Path directory) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {HADOOP, SPARK})
  void nothingIsInsideThatAHostMayHaveToo(String prefix) throws Exception {
    TreeSet<String> foreign = new TreeSet<>();
    TreeSet<String> meta = new TreeSet<>();
    try (JarFile file = new JarFile(jar(prefix).toFile())) {
      file.stream()
          .filter(entry -> !entry.isDirectory())
          .map(entry -> entry.getName())
          .forEach(name -> (name.startsWith("io/crail/") ? new TreeSet<String>() : meta).add(name));
    }
    for (String name : meta) {
      if (!name.matches(
          "META-INF/(MANIFEST.MF|LICENSE|NOTICE|native/libio_crail_shaded_netty_.*\\.so"
              + "|services/(io\\.crail\\..*|org\\.apache\\.hadoop\\.fs\\.FileSystem))")) {
        foreign.add(name);
      }
    }
    assertEquals(new TreeSet<>(), foreign);
    assertTrue(meta.contains("META-INF/services/io.crail.common.config.ConfigKeys"), meta + "");
  }

  @ParameterizedTest
  @ValueSource(strings = {HADOOP, SPARK})
  void worksBesideTheLibrariesOfAHost(String prefix) throws Exception {
    worksBeside(jar(prefix), jars(home.resolve("lib/hadoop")), "hadoop-client-api-3.5");
  }

  /** Which runs on no newer Java. */
  @Test
  @DisabledForJreRange(min = JRE.JAVA_24)
  void worksInAnOlderHadoop() throws Exception {
    worksBeside(jar(HADOOP), jars(Path.of("target/hosts/hadoop-older")), "hadoop-client-api-3.4");
  }

  /** The native library is not in the jar. */
  @Test
  void reportsAMissingNativeLibrary(@TempDir Path directory) throws Exception {
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://127.0.0.1:1\ncrail.namenode.rpctype darpc\n");
    String classPath =
        classPath(jar(HADOOP), jars(home.resolve("lib/hadoop"))).stream()
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    Map<String, String> environment =
        Map.of("CRAIL_CONF_DIR", directory.toString(), "LD_LIBRARY_PATH", directory.toString());
    try (CrailProcess host =
        CrailProcess.plainJava(
            environment, "-cp", classPath, HostProgram.class.getName(), "crail:///")) {
      assertNotEquals(0, host.awaitExit(PATIENCE));
      assertTrue(
          host.stderr().contains("libdisni.so is not on java.library.path (" + directory),
          host.stderr());
    }
  }

  private static List<Path> classPath(Path jar, List<Path> hadoop) throws Exception {
    List<Path> classPath = new ArrayList<>();
    // The host's come first: it is Crail that has to get along.
    classPath.addAll(jars(Path.of("target/hosts/libraries")));
    classPath.addAll(hadoop);
    classPath.add(jar);
    classPath.add(Path.of("target/test-classes"));
    return classPath;
  }

  private static void worksBeside(Path jar, List<Path> hadoop, String version) throws Exception {
    // Their file has keys that no client has on its class path.
    Map<String, String> settings =
        Map.of("crail.blocksize", "512k", "crail.namenode.blockselection", "random");
    try (ProcessCluster cluster = ProcessCluster.start(2, 2, settings);
        CrailProcess host =
            CrailProcess.program(
                classPath(jar, hadoop),
                Map.of("CRAIL_CONF_DIR", cluster.directory().toString()),
                HostProgram.class,
                "crail:///")) {
      assertEquals(0, host.awaitExit(PATIENCE), () -> host.stdout() + host.stderr());
      List<String> said = host.stdout().lines().toList();
      assertEquals(
          List.of(
              "same bytes: true",
              "listed: file 3000001",
              "moved: true",
              "deleted: true",
              "Netty of the host: true"),
          said.subList(0, 5));
      assertTrue(said.get(5).startsWith("io.netty.buffer.Unpooled in netty-all-4.1."), said.get(5));
      assertTrue(said.get(6).startsWith("org.slf4j.Logger in slf4j-api-1.7."), said.get(6));
      assertTrue(said.get(7).contains(" in " + version), said.get(7));
      assertEquals("io.crail.CrailStore in " + jar.getFileName(), said.get(8));
      assertTrue(said.get(9).endsWith("Epoll in " + jar.getFileName()), said.get(9));
      assertEquals("epoll: " + Epoll.isAvailable(), said.get(10));
      assertTrue(host.stderr().contains("SLF4J of the host"), host.stderr());
    }
  }
}
