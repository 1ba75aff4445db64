/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.rdma.OtherPrograms;
import io.crail.testkit.tier.Tier;
import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A foreign program that has only the client jars. It finds the native library through {@code
 * LD_LIBRARY_PATH}, which is how Spark passes {@code extraLibraryPath} to its driver and executors.
 */
@Tag("rdma")
class RdmaPlainClientTest {
  /** Longer where the machine is emulated. */
  private static final int PATIENCE_SECONDS = Integer.getInteger("crail.test.patience", 120);

  /** What a client needs, with the tiers that its configuration speaks of. */
  private static final String JARS =
      "(crail-(client|common|datanode-(rdma|tcp)|rdma|rpc|storage|verbs)|netty-.*|slf4j-api)-[0-9].*\\.jar";

  private static final Path LIBRARIES = Path.of(System.getProperty("crail.home", ""), "lib");

  @TempDir Path directory;

  /** The client jars, and the program alone, without the other files beside it. */
  private String classPath() throws Exception {
    String name = ReadBackProgram.class.getSimpleName() + ".class";
    Path program = directory.resolve("classes");
    Path copy = program.resolve(ReadBackProgram.class.getName().replace('.', '/') + ".class");
    Files.createDirectories(copy.getParent());
    try (InputStream code = ReadBackProgram.class.getResourceAsStream(name)) {
      Files.copy(code, copy);
    }
    try (Stream<Path> files = Files.list(LIBRARIES)) {
      Stream<Path> jars = files.filter(file -> file.getFileName().toString().matches(JARS));
      return Stream.concat(jars, Stream.of(program))
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    }
  }

  @Test
  void theLoadersPathIsEnough() throws Exception {
    Path file = directory.resolve("crail-site.conf");
    try (TestCluster cluster = TestCluster.start(Tier.of(Tier.RDMA), 1, 1)) {
      Files.write(
          file,
          cluster.configuration().texts().entrySet().stream()
              .map(setting -> setting.getKey() + " " + setting.getValue())
              .toList());
      OtherPrograms.End end =
          OtherPrograms.run(
              PATIENCE_SECONDS,
              "env",
              "LD_LIBRARY_PATH=" + LIBRARIES.resolve("native"),
              // Emulated machines crash JVMs that move between processors.
              "taskset",
              "-c",
              "0",
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-XX:TieredStopAtLevel=1",
              "-cp",
              classPath(),
              ReadBackProgram.class.getName(),
              file.toString());
      assertEquals(0, end.status(), end.output());
      assertTrue(end.output().endsWith("read 100000, the same\n"), end.output());
    }
  }
}
