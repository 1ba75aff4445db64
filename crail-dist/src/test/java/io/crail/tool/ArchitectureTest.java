/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import io.crail.CrailStore;
import io.crail.common.Threads;
import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.ref.Cleaner;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.DecimalFormat;
import java.text.NumberFormat;
import java.text.SimpleDateFormat;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.stream.BaseStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Tests the dependencies between the modules, and the rules for what must not be in the code. */
@Tag("once")
class ArchitectureTest {
  /** A module's packages, and the other modules that it may use. */
  private record Module(List<String> packages, List<String> uses) {}

  private static final String TIER_MODULE = "crail-datanode-";

  /** What a tier sees of crail-storage. */
  private static final List<String> SERVED =
      List.of("storage", "regions", "network endpoint", "hosted regions");

  private static final Map<String, Module> MODULES = modules();

  /** Most top-level classes in a package. */
  private static final int MOST_CLASSES = 25;

  /** Lines up to which a class needs no reason. */
  private static final int MOST_LINES = 500;

  /**
   * Classes that are longer because they have one idea, with what it is. Knots count, not lines: a
   * class with one idea stays whole however long it is, and one is cut where two ideas meet.
   */
  private static final Map<String, String> LONG_CLASSES =
      Map.of(
          "io.crail.cache.mount.MountedFileSystem",
          "translates paths: a method for each of Hadoop's file systems",
          "io.crail.client.CoreStore",
          "checks what its user asks for: a method for each of CrailStore",
          "io.crail.compound.CompoundOperation",
          "a method for each kind of step",
          "io.crail.namenode.change.Applier",
          "the only writer: a method for each change of nodes",
          "io.crail.namenode.change.Change",
          "a record for each change of nodes, with its layout and its codec",
          "io.crail.namenode.tree.Node",
          "one object with packed fields, since there are millions of them",
          "io.crail.protocol.NameNodeOperations",
          "the table of operations, one after the other",
          "io.crail.rpc.RpcPeer",
          "one connection's state, from the first attempt to connect to its end",
          "io.crail.rpc.rdma.RdmaLoop",
          "one completion queue and its thread, which owns all that is polled",
          "io.crail.verbs.Verbs",
          "mirrors the C library: a method for each of its functions");

  /**
   * Classes whose arrows to others of their package close a circle by nature, with the reason.
   * These arrows do not count.
   */
  private static final Map<String, String> DOORS =
      Map.of(
          "io.crail.CrailNode",
          "gives itself as the type that it is, as in Apache Crail",
          "io.crail.common.error.ErrorCode",
          "makes the exception of each code, which has that code",
          "io.crail.protocol.codec.Codec",
          "has a layout, whose parts have codecs; and derives the codecs of records");

  /** Packages of programs that only measure or test. They end when a thread of them fails. */
  private static final List<String> PROGRAMS =
      List.of("io.crail.bench..", "io.crail.lab..", "io.crail.jobs..", "io.crail.testkit..");

  /** Classes whose threads are not made by {@link Threads#daemon}, with the reason. */
  private static final Map<String, String> MAKERS_OF_THREADS =
      Map.of(
          "io.crail.common.Threads",
          "makes all others",
          "io.crail.common.NativeMemory",
          "the JDK's cleaner inherits nothing, catches all, and stays when all stores are closed",
          "io.crail.rpc.netty.NettyTransport",
          "Netty wants threads of its own class, which Threads watches",
          "io.crail.rpc.netty.DrivenEventLoop",
          "an executor without a thread",
          "io.crail.rpc.loop.DriverSeat",
          "its thread never runs",
          "io.crail.tool.command.ShutdownGate",
          "a hook of the end of the process, which cannot end it once more",
          "io.crail.Upcoming",
          "the threads of the JVM's common pool belong to the user; the future has each failure");

  private static JavaClasses crail;

  /** Source files of the main code of all modules, by the full name of their top-level class. */
  private static Map<String, Path> sources;

  private static List<String> with(List<String> some, String... more) {
    return Stream.concat(some.stream(), Stream.of(more)).toList();
  }

  private static Map<String, Module> modules() {
    Map<String, Module> modules = new TreeMap<>();
    modules.put("common", new Module(List.of("io.crail.common.."), List.of()));
    modules.put("verbs", new Module(List.of("io.crail.verbs.."), List.of()));
    // Rooms of crail-rpc and crail-rdma: a transport never sees an operation.
    modules.put(
        "engine",
        new Module(
            List.of(
                "io.crail.rpc", "io.crail.rpc.login", "io.crail.rpc.loop", "io.crail.rpc.reply"),
            List.of("common")));
    modules.put("netty", new Module(List.of("io.crail.rpc.netty.."), List.of("common", "engine")));
    modules.put(
        "rdma", new Module(List.of("io.crail.rpc.rdma.."), List.of("common", "engine", "verbs")));
    modules.put(
        "darpc",
        new Module(
            List.of("io.crail.rpc.darpc.."),
            List.of("common", "engine", "netty", "verbs", "rdma")));
    modules.put(
        "protocol",
        new Module(
            List.of("io.crail.protocol..", "io.crail.compound"), List.of("common", "engine")));
    List<String> rpc = List.of("common", "engine", "protocol");
    // Rooms of crail-storage.
    modules.put("storage", new Module(List.of("io.crail.storage"), rpc));
    modules.put("regions", new Module(List.of("io.crail.storage.region"), with(rpc, "storage")));
    modules.put(
        "mapped regions",
        new Module(List.of("io.crail.storage.mapped"), with(rpc, "storage", "regions")));
    modules.put(
        "network endpoint", new Module(List.of("io.crail.storage.network"), with(rpc, "storage")));
    modules.put(
        "hosted regions",
        new Module(List.of("io.crail.storage.host"), with(rpc, "storage", "regions")));
    modules.put(
        "daemon",
        new Module(List.of("io.crail.storage.daemon"), with(rpc, "storage", "hosted regions")));
    modules.put("namenode", new Module(List.of("io.crail.namenode.."), rpc));
    modules.put(
        "rdma tier",
        new Module(
            List.of("io.crail.storage.rdma.."),
            with(SERVED, "common", "verbs", "engine", "rdma", "protocol")));
    // Rooms of crail-datanode-nvmf: a host of NVMe over Fabrics knows neither Crail's blocks nor,
    // without the package below, a network.
    modules.put(
        "nvmf",
        new Module(
            List.of("io.crail.nvmf", "io.crail.nvmf.sector"),
            List.of("common", "engine", "nvmf authentication")));
    modules.put(
        "nvmf authentication", new Module(List.of("io.crail.nvmf.auth"), List.of("common")));
    modules.put(
        "nvmf over fabrics",
        new Module(
            List.of("io.crail.nvmf.fabric"),
            List.of("common", "engine", "nvmf", "nvmf authentication")));
    modules.put(
        "nvmf over tcp",
        new Module(
            List.of("io.crail.nvmf.tcp"),
            List.of("common", "engine", "netty", "nvmf", "nvmf over fabrics")));
    modules.put(
        "nvmf over rdma",
        new Module(
            List.of("io.crail.nvmf.rdma"),
            List.of("common", "engine", "verbs", "rdma", "nvmf", "nvmf over fabrics")));
    modules.put(
        "nvmf with spdk",
        new Module(List.of("io.crail.nvmf.spdk"), List.of("common", "engine", "nvmf")));
    modules.put(
        "nvmf tier",
        new Module(
            List.of("io.crail.storage.nvmf.."),
            with(SERVED, "common", "engine", "netty", "protocol", "nvmf", "nvmf authentication")));
    modules.put(
        "client",
        new Module(
            List.of(
                "io.crail",
                "io.crail.conf..",
                "io.crail.memory..",
                "io.crail.range..",
                "io.crail.job..",
                "io.crail.utils..",
                "io.crail.client.."),
            List.of("common", "engine", "protocol", "storage", "mapped regions")));
    modules.put("hadoop", new Module(List.of("io.crail.hadoop.."), List.of("common", "client")));
    modules.put(
        "cache",
        new Module(List.of("io.crail.cache.."), List.of("common", "protocol", "client", "hadoop")));
    // Rooms of crail-spark: what is stored, and how it is fetched, knows no Spark.
    modules.put(
        "spark outputs",
        new Module(
            List.of("io.crail.spark.output", "io.crail.spark.fetch"),
            List.of("common", "protocol", "client")));
    modules.put(
        "spark",
        new Module(
            List.of(
                "io.crail.spark",
                "io.crail.spark.application",
                "io.crail.spark.broadcast",
                "io.crail.spark.line42"),
            List.of("common", "protocol", "client", "spark outputs")));
    modules.put("jobs of spark", new Module(List.of("io.crail.jobs.."), List.of()));
    modules.put("ycsb", new Module(List.of("io.crail.ycsb.."), List.of("common", "client")));
    modules.put(
        "log", new Module(List.of("io.crail.log.."), List.of("common", "protocol", "client")));
    modules.put(
        "bench",
        new Module(
            List.of("io.crail.bench.."),
            List.of("common", "engine", "protocol", "storage", "client", "hadoop")));
    modules.put(
        "lab",
        new Module(
            List.of("io.crail.lab.."),
            List.of("common", "engine", "protocol", "storage", "client", "bench")));
    modules.put(
        "embedded",
        new Module(
            List.of("io.crail.embedded.."),
            List.of(
                "common",
                "engine",
                "protocol",
                "storage",
                "regions",
                "daemon",
                "namenode",
                "tcp tier",
                "client")));
    modules.put(
        "testkit",
        new Module(
            List.of("io.crail.testkit.."),
            List.of(
                "common",
                "engine",
                "netty",
                "protocol",
                "storage",
                "regions",
                "network endpoint",
                "hosted regions",
                "daemon",
                "namenode",
                "tcp tier",
                "rdma tier",
                "nvmf",
                "nvmf over tcp",
                "client")));
    for (String tier : tiers()) {
      modules.putIfAbsent(
          tier + " tier",
          new Module(
              List.of("io.crail.storage." + tier + ".."),
              with(SERVED, "common", "engine", "netty", "protocol")));
    }
    List<String> everything = new ArrayList<>(modules.keySet());
    everything.remove("testkit");
    modules.put("dist", new Module(List.of("io.crail.tool.."), everything));
    return modules;
  }

  /** The tiers that have a module. One that sees no more than usual needs no line above. */
  private static List<String> tiers() {
    try (Stream<Path> modules = Files.list(Path.of(".."))) {
      return modules
          .map(module -> module.getFileName().toString())
          .filter(name -> name.startsWith(TIER_MODULE))
          .map(name -> name.substring(TIER_MODULE.length()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeAll
  static void importClasses() {
    crail =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("test-classes"))
            // On the class path of tests only.
            .withImportOption(location -> !location.contains("testguard"))
            .importPackages("io.crail");
  }

  @BeforeAll
  static void findSources() throws IOException {
    sources = new TreeMap<>();
    try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(".."), "crail-*")) {
      for (Path module : modules) {
        Path root = module.resolve("src/main/java");
        if (Files.isDirectory(root)) {
          findSources(root);
        }
      }
    }
    assertFalse(sources.isEmpty());
  }

  private static void findSources(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = root.relativize(file).toString().replace(File.separatorChar, '.');
        if (name.endsWith(".java") && !name.endsWith("-info.java")) {
          Path twin = sources.put(name.substring(0, name.length() - ".java".length()), file);
          assertNull(twin, () -> "one class in two modules: " + name);
        }
      }
    }
  }

  @Test
  void noPackageIsCrowded() {
    Map<String, Integer> counts = new TreeMap<>();
    for (String name : sources.keySet()) {
      counts.merge(packageOf(name), 1, Integer::sum);
    }
    counts.values().removeIf(count -> count <= MOST_CLASSES);
    assertEquals(Map.of(), counts);
  }

  /** So that a stranger who reads a class's name knows which one is meant. */
  @Test
  void noSimpleNameStandsForTwoClasses() {
    Map<String, TreeSet<String>> classes = new TreeMap<>();
    for (String name : sources.keySet()) {
      classes.computeIfAbsent(simple(name), key -> new TreeSet<>()).add(name);
    }
    classes.values().removeIf(names -> names.size() == 1);
    assertEquals(Map.of(), classes);
  }

  /** Contracts and simulations of crail-testkit are tests, and not counted. */
  @Test
  void longClassesAreFewAndHaveTheirReasons() throws IOException {
    TreeSet<String> longOnes = new TreeSet<>();
    for (Map.Entry<String, Path> source : sources.entrySet()) {
      try (Stream<String> lines = Files.lines(source.getValue())) {
        if (lines.count() > MOST_LINES && !source.getKey().startsWith("io.crail.testkit.")) {
          longOnes.add(source.getKey());
        }
      }
    }
    // Both ways: also a class that has become shorter, or is gone, fails here.
    assertEquals(new TreeSet<>(LONG_CLASSES.keySet()), longOnes);
    LONG_CLASSES.forEach((name, reason) -> assertFalse(reason.isBlank(), name));
  }

  @Test
  void everyClassBelongsToAModule() {
    String[] known =
        MODULES.values().stream()
            .flatMap(module -> module.packages().stream())
            .toArray(String[]::new);
    TreeSet<String> homeless = new TreeSet<>();
    for (JavaClass type : crail) {
      if (!resideInAnyPackage(known).test(type)) {
        homeless.add(type.getName());
      }
    }
    assertEquals(new TreeSet<>(), homeless);
    assertFalse(crail.isEmpty());
  }

  @TestFactory
  Stream<DynamicTest> modulesUseOnlyWhatTheyMay() {
    return MODULES.entrySet().stream()
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.getKey(), () -> check(entry.getKey(), entry.getValue())));
  }

  private static void check(String name, Module module) {
    List<String> forbidden = new ArrayList<>();
    MODULES.forEach(
        (other, itsModule) -> {
          if (!other.equals(name) && !module.uses().contains(other)) {
            forbidden.addAll(itsModule.packages());
          }
        });
    if (!forbidden.isEmpty()) {
      noClasses()
          .that()
          .resideInAnyPackage(module.packages().toArray(String[]::new))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(forbidden.toArray(String[]::new))
          .allowEmptyShould(true)
          .check(crail);
    }
  }

  @Test
  void nettyStaysInTheTransportAndWhereTcpIsSpoken() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "io.crail.rpc.netty..",
            "io.crail.storage.tcp..",
            "io.crail.nvmf.tcp..",
            "io.crail.testkit..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.netty..")
        .check(crail);
  }

  @Test
  void hadoopStaysInItsRooms() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "io.crail.hadoop..",
            "io.crail.cache..",
            "io.crail.bench.hadoop..",
            "io.crail.lab.source..",
            "io.crail.tool.shell..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.hadoop..")
        .check(crail);
  }

  @Test
  void sparkStaysInItsRooms() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "io.crail.spark",
            "io.crail.spark.application",
            "io.crail.spark.broadcast",
            "io.crail.spark.line42",
            "io.crail.jobs..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark..", "scala..")
        .check(crail);
  }

  @Test
  void whatDrawsStaysBehindTheCharts() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.crail.bench.chart..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.jfree..", "org.apache.batik..", "java.awt..", "javax.imageio..")
        .check(crail);
  }

  @Test
  void packagesMakeNoCircle() {
    // Each package is a slice: io.crail too, and those below another one.
    slices()
        .matching("io.(**)")
        .should()
        .beFreeOfCycles()
        // CrailStore.newInstance, the door to it all, stands in the API.
        .ignoreDependency(type(CrailStore.class), resideInAPackage("io.crail.client"))
        .check(crail);
  }

  /**
   * So that a reader can take the classes of a package one after the other, from below. A nested
   * class counts as its outermost one. Contracts and simulations of crail-testkit are tests, and
   * not counted.
   */
  @Test
  void classesOfAPackageMakeNoCircle() {
    Map<String, Map<String, String>> arrows = arrowsWithinPackages();
    TreeSet<String> knotted = new TreeSet<>();
    circles(arrows).forEach(knotted::addAll);
    // Both ways: also an exception that is none any more fails here.
    DOORS.keySet().forEach(door -> assertTrue(knotted.contains(door), door));
    arrows.keySet().removeAll(DOORS.keySet());
    StringBuilder found = new StringBuilder();
    for (TreeSet<String> circle : circles(arrows)) {
      found.append("\ncircle of ").append(circle.size());
      found.append(" in ").append(packageOf(circle.first()));
      for (String from : circle) {
        arrows
            .get(from)
            .forEach(
                (to, why) -> {
                  if (circle.contains(to)) {
                    found.append("\n  ").append(simple(from)).append(" -> ").append(simple(to));
                    found.append(": ").append(why);
                  }
                });
      }
    }
    assertEquals("", found.toString());
  }

  /** For each outermost class those of its package that it uses, with one use of each. */
  private static Map<String, Map<String, String>> arrowsWithinPackages() {
    Map<String, Map<String, String>> arrows = new TreeMap<>();
    for (JavaClass type : crail) {
      if (resideInAPackage("io.crail.testkit..").test(type)) {
        continue;
      }
      for (Dependency each : type.getDirectDependenciesFromSelf()) {
        JavaClass used = each.getTargetClass().getBaseComponentType();
        String from = outermost(type);
        String to = outermost(used);
        if (used.getPackageName().equals(type.getPackageName()) && !from.equals(to)) {
          arrows
              .computeIfAbsent(from, key -> new TreeMap<>())
              .putIfAbsent(to, each.getDescription());
        }
      }
    }
    return arrows;
  }

  /** The largest sets of classes of which each leads to each. */
  private static List<TreeSet<String>> circles(Map<String, Map<String, String>> arrows) {
    Map<String, TreeSet<String>> reached = new TreeMap<>();
    arrows.keySet().forEach(from -> reached.put(from, reachedFrom(from, arrows)));
    List<TreeSet<String>> circles = new ArrayList<>();
    reached.forEach(
        (from, all) -> {
          TreeSet<String> circle = new TreeSet<>(all);
          circle.removeIf(to -> !reached.getOrDefault(to, new TreeSet<>()).contains(from));
          // Once, by its first class.
          if (!circle.isEmpty() && circle.first().equals(from)) {
            circles.add(circle);
          }
        });
    return circles;
  }

  private static TreeSet<String> reachedFrom(String from, Map<String, Map<String, String>> arrows) {
    TreeSet<String> reached = new TreeSet<>();
    List<String> left = new ArrayList<>(List.of(from));
    while (!left.isEmpty()) {
      String at = left.remove(left.size() - 1);
      for (String to : arrows.getOrDefault(at, Map.of()).keySet()) {
        if (reached.add(to)) {
          left.add(to);
        }
      }
    }
    return reached;
  }

  private static String outermost(JavaClass type) {
    return type.getName().replaceFirst("\\$.*", "");
  }

  private static String packageOf(String name) {
    return name.substring(0, name.lastIndexOf('.'));
  }

  private static String simple(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /** Each room of the client may use those that come after it, and none before it. */
  @TestFactory
  Stream<DynamicTest> roomsOfTheClientUseOnlyThoseBelow() {
    return useOnlyThoseBelow(
        "io.crail.client",
        List.of(
            "",
            ".call",
            ".node",
            ".stream",
            ".lease",
            ".space",
            ".loop",
            ".datanode",
            ".statistics"));
  }

  /** What decides changes uses what makes them, and that uses what is kept; nothing points up. */
  @TestFactory
  Stream<DynamicTest> roomsOfTheNamenodeUseOnlyThoseBelow() {
    return useOnlyThoseBelow(
        "io.crail.namenode",
        List.of("", ".rule", ".query", ".change", ".tree", ".quota", ".space", ".lease", ".name"));
  }

  private static Stream<DynamicTest> useOnlyThoseBelow(String house, List<String> rooms) {
    List<String> packages = rooms.stream().map(room -> house + room).toList();
    return IntStream.range(1, rooms.size())
        .mapToObj(
            at ->
                DynamicTest.dynamicTest(
                    packages.get(at),
                    () ->
                        noClasses()
                            .that()
                            .resideInAPackage(packages.get(at))
                            .should()
                            .dependOnClassesThat()
                            .resideInAnyPackage(packages.subList(0, at).toArray(String[]::new))
                            .check(crail)));
  }

  /** So a log of changes, or who checks them, stands in one place and misses none. */
  @Test
  void onlyAppliersWriteTheState() {
    classes()
        .that()
        .haveFullyQualifiedName("io.crail.namenode.tree.TreeWriter")
        .or()
        .haveFullyQualifiedName("io.crail.namenode.space.SpaceWriter")
        .or()
        .haveFullyQualifiedName("io.crail.namenode.lease.LeaseWriter")
        .should()
        .onlyHaveDependentClassesThat()
        .resideInAPackage("io.crail.namenode.change")
        .check(crail);
  }

  @Test
  void ycsbStaysInItsRoom() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.crail.ycsb..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("site.ycsb..")
        .check(crail);
  }

  @Test
  void codeThatDecidesReadsNoClock() {
    noClasses()
        .that()
        .resideInAnyPackage("io.crail.namenode..", "io.crail.protocol..")
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Thread.class, "sleep", long.class)
        .allowEmptyShould(true)
        .check(crail);
  }

  @Test
  void noClassUsesUnsafeOrALoggingBinding() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "sun.misc..", "jdk.internal..", "java.util.logging..", "org.apache.logging..")
        .check(crail);
  }

  /** What a host of the client brings; its fluent calls are not in 1.7. */
  @Test
  void noClassNeedsMoreThanSlf4j1() {
    noClasses().should().dependOnClassesThat().resideInAPackage("org.slf4j.spi..").check(crail);
  }

  @Test
  void clientsDragOnlyNettyAndTheLoggingFacadeAlong() throws Exception {
    TreeSet<String> foreign = new TreeSet<>();
    List<String> modules =
        new ArrayList<>(
            List.of(
                "crail-common",
                "crail-verbs",
                "crail-rpc",
                "crail-rdma",
                "crail-storage",
                "crail-client",
                "crail-nvmf-rdma",
                "crail-nvmf-spdk"));
    tiers().forEach(tier -> modules.add(TIER_MODULE + tier));
    for (String module : modules) {
      foreign.addAll(foreignDependencies(Path.of("..", module, "pom.xml")));
    }
    foreign.removeIf(name -> name.startsWith("netty-"));
    assertEquals(new TreeSet<>(List.of("slf4j-api")), foreign);
  }

  /** What users of a module get on their class path beside Crail's own modules. */
  private static TreeSet<String> foreignDependencies(Path pom) throws Exception {
    Element project =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(pom.toFile())
            .getDocumentElement();
    NodeList dependencies = project.getElementsByTagName("dependency");
    TreeSet<String> names = new TreeSet<>();
    for (int i = 0; i < dependencies.getLength(); i++) {
      Element dependency = (Element) dependencies.item(i);
      String scope = text(dependency, "scope");
      if (!scope.equals("test")
          && !scope.equals("provided")
          && !text(dependency, "groupId").equals("io.crail")) {
        names.add(text(dependency, "artifactId"));
      }
    }
    return names;
  }

  private static String text(Element element, String name) {
    NodeList children = element.getElementsByTagName(name);
    return children.getLength() == 0 ? "" : children.item(0).getTextContent();
  }

  @Test
  void nothingButTheCommandsPrintsOrExits() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "io.crail.tool..",
            "io.crail.bench..",
            "io.crail.lab..",
            "io.crail.jobs..",
            "io.crail.testkit..")
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .orShould()
        .callMethod(System.class, "exit", int.class)
        .check(crail);
  }

  /** Else a thread could die without a word, or keep a process from ending. */
  @Test
  void allThreadsAreMadeInOnePlace() {
    TreeSet<String> makers = new TreeSet<>();
    for (JavaClass type : crail) {
      if (resideInAnyPackage(PROGRAMS.toArray(String[]::new)).test(type)) {
        continue;
      }
      Stream<? extends JavaAccess<?>> calls =
          Stream.of(
                  type.getConstructorCallsFromSelf(),
                  type.getConstructorReferencesFromSelf(),
                  type.getMethodCallsFromSelf(),
                  type.getMethodReferencesFromSelf())
              .flatMap(Set::stream);
      if (calls.anyMatch(ArchitectureTest::makesThreads)) {
        makers.add(outermost(type));
      }
    }
    // Both ways: also an exception that is none any more fails here.
    assertEquals(new TreeSet<>(MAKERS_OF_THREADS.keySet()), makers);
  }

  private static boolean makesThreads(JavaAccess<?> access) {
    if (!(access.getTarget() instanceof CodeUnitAccessTarget target)) {
      return false;
    }
    JavaClass owner = target.getOwner();
    boolean isNew = target.getName().equals(JavaConstructor.CONSTRUCTOR_NAME);
    boolean isGivenThreads =
        target.getRawParameterTypes().stream()
            .anyMatch(type -> type.isAssignableTo(ThreadFactory.class));
    if (isNew) {
      return owner.isAssignableTo(Thread.class)
          || owner.isAssignableTo(Timer.class)
          || owner.isAssignableTo(DefaultThreadFactory.class)
          || owner.isAssignableTo(Executor.class)
              && owner.getPackageName().startsWith("java.")
              && !isGivenThreads
          || owner.isAssignableTo(EventExecutorGroup.class)
              && owner.getPackageName().startsWith("io.netty.")
          || owner.isAssignableTo(HashedWheelTimer.class);
    }
    String name = target.getName();
    boolean isExecutorGiven =
        target.getRawParameterTypes().stream()
            .anyMatch(type -> type.isAssignableTo(Executor.class));
    return owner.isEquivalentTo(Executors.class) && !isGivenThreads
        || owner.isEquivalentTo(Cleaner.class) && name.equals("create") && !isGivenThreads
        || owner.isAssignableTo(ForkJoinPool.class)
        || owner.isAssignableTo(CompletableFuture.class)
            && name.endsWith("Async")
            && !isExecutorGiven
        || name.equals("parallelStream")
        || name.equals("parallel") && owner.isAssignableTo(BaseStream.class)
        || owner.isEquivalentTo(Thread.class) && name.startsWith("of");
  }

  /** Else digits, points and letters would be those of the user's country. */
  @Test
  void nothingIsFormattedByTheLocaleOfTheHost() {
    Class<?>[] format = {String.class, Object[].class};
    noClasses()
        .should()
        .callMethod(String.class, "format", format)
        .orShould()
        .callMethod(String.class, "formatted", Object[].class)
        .orShould()
        .callMethodWhere(
            DescribedPredicate.describe(
                "prints by the locale of the host", ArchitectureTest::printsByLocale))
        .orShould()
        .callMethod(String.class, "toLowerCase")
        .orShould()
        .callMethod(String.class, "toUpperCase")
        .orShould()
        .callConstructor(Formatter.class)
        .orShould()
        .callConstructor(Formatter.class, Appendable.class)
        .orShould()
        .callConstructor(DecimalFormat.class)
        .orShould()
        .callConstructor(DecimalFormat.class, String.class)
        .orShould()
        .callMethod(NumberFormat.class, "getInstance")
        .orShould()
        .callMethod(NumberFormat.class, "getNumberInstance")
        .orShould()
        .callMethod(NumberFormat.class, "getIntegerInstance")
        .orShould()
        .callMethod(NumberFormat.class, "getPercentInstance")
        .orShould()
        .callConstructor(SimpleDateFormat.class, String.class)
        .orShould()
        .callMethod(DateTimeFormatter.class, "ofPattern", String.class)
        .check(crail);
  }

  private static boolean printsByLocale(JavaMethodCall call) {
    JavaClass owner = call.getTargetOwner();
    return List.of("printf", "format").contains(call.getTarget().getName())
        && (owner.isAssignableTo(PrintStream.class) || owner.isAssignableTo(PrintWriter.class))
        && call.getTarget().getRawParameterTypes().get(0).isEquivalentTo(String.class);
  }

  @Test
  void noStaticFieldChanges() {
    ArchRuleDefinition.fields().that().areStatic().should().beFinal().check(crail);
  }

  @Test
  void keysAreDeclaredInOnePlacePerRoom() {
    classes()
        .that()
        .implement(io.crail.common.config.ConfigKeys.class)
        .should()
        .haveSimpleNameEndingWith("Keys")
        .check(crail);
  }
}
