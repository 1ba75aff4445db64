/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.spark.suites.Executors;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Applications that are submitted as users do it, with the single jar in {@code spark.jars}: no
 * class of Crail is in the class path of a JVM.
 */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
class SparkSubmitTest {
  private static final Path LAYOUT = Path.of(System.getProperty("crail.home", "."));

  @TempDir private Path local;

  private static Path jar(String directory, String prefix) throws IOException {
    try (Stream<Path> files = Files.list(LAYOUT.resolve(directory))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .findFirst()
          .orElseThrow();
    }
  }

  /** Spark and what it needs. */
  private static String sparkAlone() {
    return Arrays.stream(Executors.classPath().split(File.pathSeparator))
        .map(Path::of)
        .filter(each -> Files.isRegularFile(each))
        .filter(each -> !each.getFileName().toString().startsWith("crail-"))
        .map(Path::toString)
        .collect(Collectors.joining(File.pathSeparator));
  }

  @ParameterizedTest
  @CsvSource({"groupby,false", "broadcast,true"})
  void runWithTheJarInSparkJars(String job, boolean plugin) throws Exception {
    try (CrailServers servers = CrailServers.start(1, 1, "128m")) {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
          .filter(option -> option.startsWith("--add-opens"))
          .forEach(command::add);
      command.addAll(
          List.of(
              "-XX:TieredStopAtLevel=1",
              "-Xmx512m",
              "-Djava.io.tmpdir=" + local,
              "-cp",
              sparkAlone(),
              "org.apache.spark.deploy.SparkSubmit",
              "--master",
              SparkApplication.localCluster(1)));
      List<String> settings =
          new ArrayList<>(
              List.of(
                  "spark.jars=" + jar("client", "crail-spark-client-"),
                  "spark.shuffle.manager=io.crail.spark.CrailShuffleManager",
                  "spark.crail.namenode.address=" + servers.addresses(),
                  "spark.executor.memory=" + SparkApplication.MEMORY + "m",
                  "spark.executor.extraClassPath=" + sparkAlone(),
                  "spark.driver.host=127.0.0.1",
                  "spark.ui.enabled=false",
                  "spark.local.dir=" + local));
      if (plugin) {
        settings.add("spark.plugins=io.crail.spark.CrailPlugin");
      }
      settings.forEach(setting -> command.addAll(List.of("--conf", setting)));
      command.addAll(
          List.of(
              "--class",
              "io.crail.jobs.JobProgram",
              jar("spark", "crail-spark-jobs-").toString(),
              job,
              String.valueOf(1 << 18),
              "2",
              local.toString()));
      // Workers write there, and look for jars.
      Path home = Files.createDirectory(local.resolve("home"));
      Files.createDirectory(home.resolve("jars"));
      Map<String, String> environment =
          Map.of("SPARK_HOME", home.toString(), "SPARK_LOCAL_IP", "127.0.0.1");
      try (ChildProcess submit =
          ChildProcess.start(local.resolve("submit.log"), environment, command)) {
        assertEquals(0, submit.awaitExit(), submit.output());
        submit.await("seconds .*");
        String output = submit.output();
        assertTrue(output.contains("shuffle data lie in Crail"), output);
      }
      servers.assertEmpty();
    }
  }
}
