/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs what the page of PySpark has, under pip's package. {@code ci/pyspark} makes the directory
 * that {@code -Dcrail.pyspark=} names.
 */
@Tag("once")
@EnabledIfSystemProperty(
    named = "crail.pyspark",
    matches = ".+",
    disabledReason = "pip's PySpark is installed for the long tests alone")
class PySparkTest {
  private static final Path PAGE = Path.of("../docs/spark/python.md");
  private static final List<String> PRINTED =
      List.of("rows of SQL: 499999500000000", "squares of Python: 100 (7, 3329034349000)");
  private static final String PYTHON = "(?ms)^```python\n(.*?)^```$";
  private static final String SETTINGS = "(?m)^    (spark\\.\\S+ .*)$";
  private static final String DAEMONS = "(?m)^    (spark-class .*) &$";
  private static final String SESSION = "spark = SparkSession.builder.+\n";

  /** Only what Crail says; PySpark says nothing but warnings otherwise. */
  private static final String LOGGING =
      """
      rootLogger.level = warn
      rootLogger.appenderRef.stderr.ref = stderr
      appender.stderr.type = Console
      appender.stderr.name = stderr
      appender.stderr.target = SYSTEM_ERR
      logger.crail.name = io.crail
      logger.crail.level = info
      """;

  private static String page;
  private static CrailServers servers;

  @TempDir private Path local;

  @BeforeAll
  static void start() throws Exception {
    page = Files.readString(PAGE);
    servers = CrailServers.startAsUsual(1, 1, "128m");
  }

  @AfterAll
  static void stop() throws Exception {
    if (servers != null) {
      servers.close();
    }
  }

  /** What the page has in blocks of a form, with the jar and the namenode of this test. */
  private static List<String> blocks(String form) throws IOException {
    Path jar;
    try (Stream<Path> jars = Files.list(Path.of(System.getProperty("crail.home"), "client"))) {
      jar =
          jars.filter(file -> file.getFileName().toString().startsWith("crail-spark-client-"))
              .findFirst()
              .orElseThrow();
    }
    List<String> blocks = new ArrayList<>();
    for (Matcher block = Pattern.compile(form).matcher(page); block.find(); ) {
      blocks.add(
          block
              .group(1)
              .replace("/opt/crail/client/crail-spark-client-<version>.jar", jar.toString())
              .replace("crail://localhost:9060", servers.addresses()));
    }
    return blocks;
  }

  @Test
  void thePageSaysWhatTheProgramPrints() {
    PRINTED.forEach(line -> assertTrue(page.contains("`" + line + "`"), line));
  }

  @Test
  void theProgramInOneProcess() throws Exception {
    List<String> settings = blocks(SETTINGS);
    assertEquals(4, settings.size());
    run(String.join("\n", settings), blocks(PYTHON).get(0));
  }

  @Test
  void theProgramOnAStandaloneCluster() throws Exception {
    List<String> daemons = blocks(DAEMONS);
    assertEquals(2, daemons.size());
    String master = daemons.get(0).replace("localhost --port 7077", "127.0.0.1 --port 0");
    assertTrue(master.contains("127.0.0.1 --port 0"), master);
    try (ChildProcess first = daemon("master", master)) {
      String address = first.await(".*Starting Spark master at (\\S+)").group(1);
      String worker = daemons.get(1).replace("spark://localhost:7077", address);
      try (ChildProcess second = daemon("worker", worker)) {
        second.await(".*Successfully registered with master.*");
        List<String> programs = blocks(PYTHON);
        String session = programs.get(1).replace("spark://localhost:7077", address);
        String program = programs.get(0).replaceFirst(SESSION, Matcher.quoteReplacement(session));
        assertTrue(program.contains(session));
        run("", program);
      }
    }
  }

  private void run(String settings, String program) throws Exception {
    Path conf = Files.createDirectory(local.resolve("conf"));
    Files.writeString(
        conf.resolve("spark-defaults.conf"),
        settings + "\nspark.ui.enabled false\nspark.driver.host 127.0.0.1\n");
    Files.writeString(conf.resolve("log4j2.properties"), LOGGING);
    Path file = Files.writeString(local.resolve("squares.py"), program);
    try (ChildProcess python =
        ChildProcess.start(
            local.resolve("program.log"), environment(conf), List.of(python(), file.toString()))) {
      assertEquals(0, python.awaitExit(), python.output());
      String output = python.output();
      PRINTED.forEach(line -> assertTrue(output.contains(line), output));
      assertTrue(output.contains("shuffle data lie in Crail"), output);
    }
    servers.assertEmpty();
  }

  private ChildProcess daemon(String name, String line) throws IOException {
    return ChildProcess.start(
        local.resolve(name + ".log"),
        environment(local),
        List.of("bash", "-c", "exec " + line + " --webui-port 0"));
  }

  private static String python() {
    return Path.of(System.getProperty("crail.pyspark"), "bin", "python").toString();
  }

  private static Path home() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(System.getProperty("crail.pyspark"), "lib"), 3)) {
      return files.filter(file -> file.endsWith("site-packages/pyspark")).findFirst().orElseThrow();
    }
  }

  /** As in a shell where the virtual environment of pip's package is active. */
  private Map<String, String> environment(Path conf) throws IOException {
    Path bin = Path.of(System.getProperty("crail.pyspark"), "bin");
    Map<String, String> environment = new HashMap<>();
    environment.put("PATH", bin + File.pathSeparator + System.getenv("PATH"));
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    // Maven gives tests another one.
    environment.put("SPARK_HOME", home().toString());
    environment.put("SPARK_CONF_DIR", conf.toString());
    environment.put("SPARK_LOCAL_IP", "127.0.0.1");
    environment.put("SPARK_LOCAL_DIRS", local.toString());
    environment.put("SPARK_WORKER_DIR", local.resolve("work").toString());
    return environment;
  }
}
