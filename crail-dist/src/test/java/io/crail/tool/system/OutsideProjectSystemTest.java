/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.lab.spark.SparkFlags;
import io.crail.tool.PageBlock;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Maven projects of users, as the documentation shows them. They see nothing of Crail but what
 * {@code mvn install} has put into a repository, and nothing of the network.
 */
@Tag("once")
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "the long tests alone install a copy of the project")
class OutsideProjectSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final long BUILD_SECONDS = 1200;

  private static final Path ROOT = Path.of("..");
  private static final String MODULES =
      "crail-client,crail-embedded,crail-hadoop-client,crail-spark-client";

  /** The coordinates of others' artifacts. */
  private static final Pattern OTHERS =
      Pattern.compile(
          "<groupId>(org.*?)</groupId>\\s*<artifactId>(.*?)</artifactId>"
              + "\\s*<version>(.*?)</version>");

  private static final String HADOOP_PROGRAM =
      """
      import java.net.URI;
      import org.apache.hadoop.conf.Configuration;
      import org.apache.hadoop.fs.*;

      public class Program {
        public static void main(String[] arguments) throws Exception {
          URI uri = URI.create(arguments[0]);
          try (FileSystem files = FileSystem.newInstance(uri, new Configuration())) {
            Path path = new Path(arguments[0] + "/hadoop");
            try (FSDataOutputStream out = files.create(path)) {
              out.writeInt(42);
            }
            try (FSDataInputStream in = files.open(path)) {
              System.out.println("read " + in.readInt());
            }
          }
        }
      }
      """;

  private static final String SPARK_PROGRAM =
      """
      import io.crail.spark.CrailBroadcast;
      import java.util.List;
      import org.apache.spark.SparkConf;
      import org.apache.spark.api.java.*;
      import scala.Tuple2;

      public class Program {
        /** A value of the user's. */
        record Table(String only) implements java.io.Serializable {
          boolean find(String row) {
            return only.equals(row);
          }
        }

        /** What the page has. */
        static void broadcast(JavaSparkContext context, JavaRDD<String> rdd, Table value)
            throws Exception {
          EXAMPLE
        }

        public static void main(String[] arguments) {
          SparkConf conf =
              new SparkConf()
                  .setMaster("local[2]")
                  .setAppName("outside")
                  .set("spark.ui.enabled", "false")
                  .set("spark.shuffle.manager", "io.crail.spark.CrailShuffleManager")
                  .set("spark.crail.namenode.address", arguments[0]);
          try (JavaSparkContext spark = new JavaSparkContext(conf)) {
            int sum =
                spark.parallelize(List.of(1, 2, 3, 4, 5, 6), 3)
                    .mapToPair(number -> new Tuple2<>(number % 2, number))
                    .reduceByKey(Integer::sum, 2)
                    .lookup(0)
                    .get(0);
            System.out.println("read " + (sum + 30));
          }
        }
      }
      """;

  @TempDir private static Path directory;

  private static Path settings;

  @BeforeAll
  static void install() throws Exception {
    Path usual =
        Path.of(
            System.getProperty(
                "localRepository", System.getProperty("user.home") + "/.m2/repository"));
    Path sources = directory.resolve("sources");
    copySources(sources);
    // The last that may need the network: what no other test uses may not be on this machine yet.
    maven(sources, plugin(sources, "install") + ":help");
    for (String page : List.of("docs/hadoop/README.md", "docs/spark/README.md")) {
      Matcher other = OTHERS.matcher(example(page, "xml", "<dependency>"));
      while (other.find()) {
        maven(
            directory,
            plugin(sources, "dependency") + ":get",
            "-Dartifact=" + other.group(1) + ":" + other.group(2) + ":" + other.group(3));
      }
    }
    settings = directory.resolve("settings.xml");
    Files.writeString(
        settings,
        "<settings><localRepository>"
            + directory.resolve("repository")
            + "</localRepository><mirrors><mirror><id>this-host</id><mirrorOf>*</mirrorOf><url>"
            + usual.toUri()
            + "</url></mirror></mirrors></settings>");
    maven(sources, "install", "-Dmaven.test.skip=true", "-pl", MODULES, "-am");
  }

  private static void copySources(Path target) throws IOException {
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path from, BasicFileAttributes attributes)
              throws IOException {
            String name = from.getFileName().toString();
            if (Set.of("target", ".git", "logs").contains(name)) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            Files.createDirectories(target.resolve(ROOT.relativize(from)));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path from, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(from, target.resolve(ROOT.relativize(from)));
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** The coordinates of a plugin of Maven's that the build uses. */
  private static String plugin(Path sources, String name) throws IOException {
    String artifact = "maven-" + name + "-plugin";
    Matcher version =
        Pattern.compile("<artifactId>" + artifact + "</artifactId>\\s*<version>(.*?)</version>")
            .matcher(Files.readString(sources.resolve("pom.xml")));
    assertTrue(version.find(), artifact);
    return "org.apache.maven.plugins:" + artifact + ":" + version.group(1);
  }

  /** Runs Maven, without the network once there are settings. */
  private static void maven(Path project, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("mvn", "-q", "-B", "-ntp"));
    if (settings != null) {
      command.addAll(List.of("-s", settings.toString()));
    }
    command.addAll(List.of(arguments));
    Path output = directory.resolve("maven.log");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.directory(project.toFile()).redirectErrorStream(true).redirectOutput(output.toFile());
    Process process = builder.start();
    try {
      assertTrue(process.waitFor(BUILD_SECONDS, TimeUnit.SECONDS), () -> command + " still runs");
      assertEquals(0, process.exitValue(), command + "\n" + Files.readString(output));
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** The first example of a page in a language that contains a text. */
  private static String example(String page, String language, String text) throws IOException {
    Matcher example =
        Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(ROOT.resolve(page)));
    while (example.find()) {
      if (example.group(1).contains(text)) {
        return example.group(1);
      }
    }
    throw new AssertionError(page + " has no " + language + " with " + text);
  }

  /** Builds a project with these dependencies, and returns its class path. */
  private static String build(String dependencies, String program, String source) throws Exception {
    Path project = Files.createTempDirectory(directory, "project");
    String pom = example("docs/java/project.md", "xml", "<project");
    String first = pom.substring(pom.indexOf("<dependency>"), pom.indexOf("</dependencies>"));
    Files.writeString(project.resolve("pom.xml"), pom.replace(first, dependencies));
    Path java = Files.createDirectories(project.resolve("src/main/java"));
    Files.writeString(java.resolve(program + ".java"), source);
    Path sources = directory.resolve("sources");
    // With the plugins that this machine has, in place of those that Maven would fetch.
    maven(
        project,
        plugin(sources, "compiler") + ":compile",
        plugin(sources, "dependency") + ":build-classpath",
        "-Dmdep.outputFile=target/class.path");
    return project.resolve("target/classes")
        + ":"
        + Files.readString(project.resolve("target/class.path")).strip();
  }

  private static void assertReads42(
      String classPath, List<String> options, String program, String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(List.of(arguments));
    try (CrailProcess process =
        CrailProcess.foreign(
            classPath,
            Map.of("SPARK_LOCAL_IP", "127.0.0.1"),
            options,
            command.toArray(new String[0]))) {
      assertEquals(0, process.awaitExit(PATIENCE), () -> process.stdout() + process.stderr());
      assertEquals("read 42\n", process.stdout(), process::stderr);
    }
  }

  /** Its memory cannot be mapped, so every client is as on another host. */
  private static ProcessCluster remoteCluster() throws Exception {
    return ProcessCluster.start(1, 1, Map.of("crail.storage.tcp.memory", "anonymous"));
  }

  private static String address(ProcessCluster cluster) {
    return "crail://127.0.0.1:" + cluster.namenodeAddress(0).getPort();
  }

  @Test
  void theFirstCommandBuildsAClone() throws Exception {
    Path clone = directory.resolve("clone");
    copySources(clone);
    String first = commands("README.md#Try it", "bin/crail ").get(0);
    try (CrailProcess process = CrailProcess.shell(clone, first)) {
      assertEquals(
          0,
          process.awaitExit(Duration.ofSeconds(BUILD_SECONDS)),
          () -> process.stdout() + process.stderr());
      assertTrue(process.stderr().contains("building"), process::stderr);
    }
  }

  /** The commands that begin so, in the places that begin so. */
  private static List<String> commands(String place, String begin) throws IOException {
    List<String> commands = new ArrayList<>();
    for (PageBlock block : PageBlock.ofAllPages()) {
      if (block.place().startsWith(place)) {
        block.commands().stream().filter(line -> line.startsWith(begin)).forEach(commands::add);
      }
    }
    assertFalse(commands.isEmpty(), place);
    return commands;
  }

  @Test
  void aProgramNeedsTheClientAlone() throws Exception {
    String classPath =
        build(
            example("README.md", "xml", "<dependency>"),
            "First",
            example("docs/java/project.md", "java", "public class First"));
    TreeSet<String> others = new TreeSet<>();
    for (String jar : classPath.split(":")) {
      String name = Path.of(jar).getFileName().toString();
      if (!name.matches("classes|(crail|netty)-.*\\.jar|slf4j-api-2.*\\.jar")) {
        others.add(name);
      }
    }
    assertEquals(new TreeSet<>(), others, "what a client drags along");
    Path project = Path.of(classPath.split(":")[0]).getParent().getParent();
    try (ProcessCluster cluster = remoteCluster()) {
      for (String line : commands("docs/java/project.md#", "java ")) {
        String here = line.replace("crail://localhost:9060", address(cluster));
        try (CrailProcess process = CrailProcess.shell(project, here)) {
          assertEquals(0, process.awaitExit(PATIENCE), () -> process.stdout() + process.stderr());
          assertEquals("read 42\n", process.stdout(), process::stderr);
        }
      }
    }
  }

  @Test
  void aProgramHasAClusterInItsProcess() throws Exception {
    String dependency =
        example("README.md", "xml", "<dependency>").replace("crail-client", "crail-embedded");
    String example = example("README.md", "java", "EmbeddedCrail");
    int body = example.indexOf("\n\n");
    String source =
        example.substring(0, body)
            + "\npublic class Program { public static void main(String[] none) throws Exception {"
            + example.substring(body).replace("// ...", "System.out.println(\"read 42\");")
            + "}}";
    assertReads42(build(dependency, "Program", source), List.of(), "Program");
  }

  @Test
  void aProgramForHadoopNeedsOneJar() throws Exception {
    String classPath =
        build(
            example("docs/hadoop/README.md", "xml", "crail-hadoop-client"),
            "Program",
            HADOOP_PROGRAM);
    try (ProcessCluster cluster = remoteCluster()) {
      assertReads42(classPath, List.of(), "Program", address(cluster));
    }
  }

  @Test
  void aProgramForSparkNeedsOneJar() throws Exception {
    String classPath =
        build(
            example("docs/spark/README.md", "xml", "crail-spark-client"),
            "Program",
            SPARK_PROGRAM.replace(
                "EXAMPLE", example("docs/spark/broadcast.md", "java", "CrailBroadcast")));
    try (ProcessCluster cluster = remoteCluster()) {
      List<String> options = new ArrayList<>(SparkFlags.OPENED);
      options.add("-Xmx1g");
      assertReads42(classPath, options, "Program", address(cluster));
    }
  }
}
