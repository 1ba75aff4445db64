/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a foreign program that has only the client jars. It finds the native library through {@code
 * LD_LIBRARY_PATH}, which is how Spark passes {@code extraLibraryPath} to its driver and executors.
 */
@Tag("rdma")
class RdmaPlainClientSystemTest {
  /** What a client needs, with the tiers that its configuration speaks of. */
  private static final String JARS =
      "(crail-(client|common|datanode-(rdma|tcp)|rdma|rpc|storage|verbs)|netty-.*|slf4j-api)-[0-9].*\\.jar";

  private static final Path LIBRARIES = Path.of(System.getProperty("crail.home", ""), "lib");

  private static CrailProcess run(ProcessCluster cluster, Path libraries) throws Exception {
    String classPath;
    try (Stream<Path> files = Files.list(LIBRARIES)) {
      classPath =
          Stream.concat(
                  files.filter(file -> file.getFileName().toString().matches(JARS)),
                  // The program itself.
                  Stream.of(
                      Path.of(
                          ReadBackProgram.class
                              .getProtectionDomain()
                              .getCodeSource()
                              .getLocation()
                              .toURI())))
              .map(Path::toString)
              .collect(Collectors.joining(File.pathSeparator));
    }
    List<String> command =
        List.of(
            "-cp",
            classPath,
            ReadBackProgram.class.getName(),
            cluster.directory().resolve("crail-site.conf").toString());
    return CrailProcess.plainJava(libraries, command.toArray(new String[0]));
  }

  @Test
  void theLoadersPathIsEnough() throws Exception {
    try (ProcessCluster cluster =
        RdmaCluster.start(1, "crail.storage.types", "rdma", "crail.storage.localmap", "false")) {
      cluster.startDatanode("rdma", "64m", -1);
      try (CrailProcess program = run(cluster, LIBRARIES.resolve("native"))) {
        int status = program.awaitExit(ProcessCluster.PATIENCE);
        assertEquals(0, status, program.stderr());
        assertEquals("read 100000, the same\n", program.stdout(), program.stderr());
      }
      try (CrailProcess program = run(cluster, cluster.directory())) {
        assertNotEquals(0, program.awaitExit(ProcessCluster.PATIENCE));
        assertTrue(
            program.stderr().contains("libdisni.so is not on java.library.path"), program.stderr());
      }
    }
  }
}
