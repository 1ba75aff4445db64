/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An application that another version of Spark runs, as far as Spark knows its version. */
@Tag("once")
class SparkVersionTest {
  private static final long MOST_SECONDS = 240;

  @TempDir private Path directory;

  @Test
  void thisSparkIsOfTheRightLine() {
    SparkVersion.check();
  }

  @ParameterizedTest
  @ValueSource(strings = {"spark.shuffle.manager", "spark.plugins"})
  void anotherVersionEndsTheApplicationAtItsStart(String key) throws Exception {
    Files.writeString(directory.resolve("spark-version-info.properties"), "version=3.5.1\n");
    Path log = directory.resolve("log");
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of(JavaModuleOptions.defaultModuleOptions().trim().split("\\s+")));
    command.addAll(
        List.of(
            "-XX:TieredStopAtLevel=1",
            "-cp",
            directory + File.pathSeparator + System.getProperty("java.class.path"),
            Program.class.getName(),
            key));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      assertTrue(process.waitFor(MOST_SECONDS, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    String output = Files.readString(log);
    assertTrue(
        output.contains("this jar of Crail is for Spark 4.2, and this is Spark 3.5.1"), output);
    assertEquals(1, process.exitValue(), output);
  }

  /** Starts Spark with a part of the plugin, and no store. */
  public static final class Program {
    private Program() {}

    /** Its argument names the key of the part. */
    public static void main(String[] arguments) {
      boolean isPlugin = arguments[0].equals("spark.plugins");
      SparkConf conf =
          new SparkConf(false)
              .setMaster("local[1]")
              .setAppName("Wrong")
              .set("spark.ui.enabled", "false")
              .set("spark.driver.host", "127.0.0.1")
              .set("spark.driver.bindAddress", "127.0.0.1")
              .set(
                  arguments[0],
                  (isPlugin ? CrailPlugin.class : CrailShuffleManager.class).getName());
      new JavaSparkContext(conf).close();
    }
  }
}
