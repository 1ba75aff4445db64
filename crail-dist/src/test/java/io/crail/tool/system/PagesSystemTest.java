/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import io.crail.tool.PageBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the commands of all pages as they stand there, in an installation from the tarball. What is
 * not run stands in a list here, with the reason.
 */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.home", matches = ".+")
class PagesSystemTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path HOME = Path.of(System.getProperty("crail.home", ""));
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final int SECTOR = 512;
  private static final int SECTORS = (33 << 20) / SECTOR;
  private static final boolean LONG = Boolean.getBoolean("crail.test.long");

  private static final String CHANGES_HOST = "as root, it changes this host for good";
  private static final String DOCKER = "needs a container engine; DeploymentTest reads the files";
  private static final String KUBERNETES = "needs a cluster of Kubernetes; DeploymentTest reads it";
  private static final String FLASH = "needs a device of flash that may be overwritten";
  private static final String MEASURES = "measures for minutes on a machine that does nothing else";
  private static final String RELEASE = "is for a release: its files, and its maker's key";
  private static final String TESTS = "runs tests, which bin/test runs by itself";
  private static final String OUTSIDE = "OutsideProjectSystemTest does it, without the network";
  private static final String TWO_HOSTS = "TwoHostsSystemTest runs it, on two hosts";
  private static final String UNITS = "starts units of systemd; ScaleSystemTest has other hooks";
  private static final String YCSB = "needs YCSB, which YcsbProgramTest has";

  /**
   * Lines that are not run here.
   *
   * @param place begins the place of the block
   * @param begin begins the line
   */
  private record NotRun(String place, String begin, String reason) {
    boolean covers(String otherPlace, String line) {
      return otherPlace.startsWith(place) && line.startsWith(begin);
    }
  }

  private static final List<NotRun> NOT_RUN =
      List.of(
          new NotRun("README.md", "bin/test", TESTS),
          new NotRun("docs/cache.md", "crail cache --", "needs a source; CacheCommandTest"),
          new NotRun("docs/commands.md", "source <(crail completion zsh)", "ShellCompletionTest"),
          new NotRun(
              "docs/operations/drain.md",
              "crail drain --cancel ",
              "needs a drain that goes on: DrainFaultsSystemTest"),
          new NotRun("docs/deployment.md", "useradd ", CHANGES_HOST),
          new NotRun("docs/deployment.md", "cp ", CHANGES_HOST),
          new NotRun("docs/deployment.md", "echo ", CHANGES_HOST),
          new NotRun("docs/deployment.md", "systemctl ", CHANGES_HOST),
          new NotRun("docs/deployment.md", "journalctl ", CHANGES_HOST),
          new NotRun("docs/deployment.md", "docker ", DOCKER),
          new NotRun("docs/deployment.md", "kubectl ", KUBERNETES),
          new NotRun("docs/elastic.md", "crail scale --least ", UNITS),
          new NotRun("docs/elastic.md", "kubectl ", KUBERNETES),
          new NotRun("docs/elastic.md", "hook=", UNITS),
          new NotRun("docs/elastic.md", "crail scale --most 16 ", KUBERNETES),
          new NotRun("docs/getting-started.md#Two hosts", "", TWO_HOSTS),
          new NotRun("docs/hadoop/README.md", "bin/crail hdfsbench -t getFile ", "needs HDFS"),
          new NotRun("docs/java/project.md", "mvn ", OUTSIDE),
          new NotRun("docs/java/project.md", "java ", OUTSIDE),
          new NotRun("docs/measuring.md", "bin/crail compare", MEASURES),
          new NotRun("docs/measuring.md", "bin/crail spark", MEASURES),
          new NotRun("docs/measuring.md", "bin/jmh", "bin/test runs it"),
          new NotRun("docs/operations/rdma.md", "java ", "stands for a program of the reader"),
          new NotRun("docs/performance-hadoop.md", "bin/measure ", MEASURES),
          new NotRun("docs/performance-nvmf.md", "bin/", FLASH),
          new NotRun("docs/performance-rdma.md", "bin/measure ", MEASURES),
          new NotRun("docs/performance-rdma.md", "ci/rdma ", TESTS),
          new NotRun("docs/performance.md", "bin/crail compare ", MEASURES),
          new NotRun("docs/releasing.md", "mvn ", "is how bin/test makes the installation here"),
          new NotRun("docs/releasing.md", "tar ", RELEASE),
          new NotRun("docs/releasing.md", "sha512sum ", RELEASE),
          new NotRun("docs/releasing.md", "gpg ", RELEASE),
          new NotRun("docs/spark/performance.md", "bin/crail spark ", MEASURES),
          new NotRun("docs/spark/python.md", "", "needs pip's package; PySparkTest runs it"),
          new NotRun("docs/spark/tiers.md", "bin/test ", TESTS),
          new NotRun(
              "docs/spark/applications.md", "crail fs -rm -r ", "needs one; CommandsSystemTest"),
          new NotRun("docs/testing/", "bin/test ", TESTS),
          new NotRun("docs/testing/", "ci/torture", "takes an hour; ModelSystemTest is short"),
          new NotRun("docs/testing/", "mvn ", TESTS),
          new NotRun("docs/web-page.md", "ssh ", "needs a second host with ssh"),
          new NotRun("docs/ycsb.md#Beside Redis", "bin/ycsb --out ", MEASURES),
          new NotRun("docs/ycsb.md#Beside Redis", "bin/ycsb --workloads ", MEASURES),
          new NotRun("docs/ycsb.md#Beside Redis", "bin/ycsb --flash ", FLASH),
          new NotRun("docs/ycsb.md#On a cluster of yours", "", YCSB));

  /** What the text of a page takes for granted is made first, by lines like those of pages. */
  private static List<String> before(String place) {
    String address = "crail.namenode.address crail://localhost:9060";
    return switch (place) {
      case "docs/cache.md#Space",
              "docs/commands.md#Files",
              "docs/commands.md#Reports",
              "docs/elastic.md#Datanodes that come and go",
              "docs/operations/repair.md#",
              "docs/operations/measure.md#Check that bytes are right",
              "docs/operations/measure.md#Workers, rates, files",
              "docs/spark/applications.md#" ->
          List.of(address, "bin/crail namenode", "bin/crail datanode");
      case "docs/hadoop/README.md#The shell", "docs/hadoop/README.md#Measuring" ->
          List.of(address, "bin/crail namenode", "bin/crail datanode", "echo words >file");
      case "docs/elastic.md#An example on one host", "docs/metrics.md#Turn it on" ->
          List.of(address);
      case "docs/jobs.md#" ->
          List.of(
              address,
              "bin/crail namenode",
              "bin/crail datanode",
              "echo 'test -n \"$CRAIL_JOB_ROOT\"' >etl.sh",
              "chmod +x etl.sh");
      case "docs/quotas.md#" ->
          List.of(address, "bin/crail namenode", "bin/crail datanode", "crail mkdir /lab");
      case "docs/operations/drain.md#Empty a datanode",
              "docs/operations/drain.md#Spread the data" ->
          List.of(
              address,
              "crail.lease 6s",
              "bin/crail namenode",
              "bin/crail datanode",
              "bin/crail datanode -- -s 64m -p FIRST",
              "bin/crail datanode -- -s 64m -p SECOND",
              "crail put README.md /readme");
      case "docs/operations/flash.md#" ->
          List.of(address, "crail.storage.nvmf.allocationsize 32m", "bin/crail namenode");
      case "docs/porting.md#Steps" ->
          List.of(
              "mkdir src",
              "echo 'import org.apache.crail.CrailStore;' >src/Old.java",
              "echo 'import org.apache.crail.rpc.RpcErrors;' >>src/Old.java");
      case "docs/releasing.md#The version" ->
          List.of("git init -q", "cp " + ROOT + "/pom.xml .", "git add pom.xml");
      default -> List.of();
    };
  }

  /** What has to be true then, where it is not enough that all commands succeed. */
  private static List<String> after(String place) {
    return switch (place) {
      case "docs/porting.md#Steps" ->
          List.of(
              "! grep apache src/Old.java",
              "grep 'import io.crail.CrailStore;' src/Old.java",
              "grep 'import io.crail.utils.RpcErrors;' src/Old.java");
      case "docs/releasing.md#The version" ->
          List.of("! grep SNAPSHOT pom.xml", "grep '<version>0.1.0</version>' pom.xml");
      default -> List.of();
    };
  }

  /** Those that every run tries, since they take seconds. */
  private static final Set<String> SHORT =
      Set.of(
          PageBlock.TARBALL + "#Try it",
          PageBlock.TARBALL + "#A cluster on this host",
          "docs/commands.md#Files",
          "docs/commands.md#Completion",
          "docs/metrics.md#Turn it on",
          "docs/porting.md#Steps",
          "docs/releasing.md#The version");

  @TempDir private Path directory;

  private static boolean isRun(String place, String line) {
    return NOT_RUN.stream().noneMatch(each -> each.covers(place, line));
  }

  static Set<String> places() throws IOException {
    Set<String> places = new LinkedHashSet<>();
    for (PageBlock block : PageBlock.ofAllPages()) {
      if (block.isForUse() && (LONG || SHORT.contains(block.place()))) {
        for (String line : block.commands()) {
          if (isRun(block.place(), line)) {
            places.add(block.place());
          }
        }
      }
    }
    return places;
  }

  @ParameterizedTest
  @MethodSource("places")
  void theCommandsOf(String place) throws Exception {
    try (NvmeTarget target =
            new NvmeTarget(
                new TargetOptions(),
                new TargetNamespace(1, SECTORS, SECTOR),
                new TargetNamespace(2, SECTORS, SECTOR));
        Installation here = new Installation(directory.resolve("crail"))) {
      here.instead("10.0.0.7:4420/nqn.2026-11.org.example:flash", target.text());
      emptied(here, "drain 10.0.0.7:50020", "FIRST");
      emptied(here, "100m 10.0.0.7:50020", "SECOND");
      for (String line : before(place)) {
        run(here, line);
      }
      for (PageBlock block : PageBlock.ofAllPages()) {
        if (block.isForUse() && block.place().equals(place)) {
          for (String line : block.commands()) {
            if (isRun(place, line)) {
              run(here, line);
            }
          }
        }
      }
      for (String line : after(place)) {
        here.run(line);
      }
    }
  }

  /** A datanode is gone after it was drained, so each command has one of its own. */
  private static void emptied(Installation here, String text, String port) {
    String free = String.valueOf(Installation.freePort());
    here.instead(text, text.split(" ")[0] + " 127.0.0.1:" + free);
    here.instead(port, free);
  }

  /** A setting goes into the site file, and a server stays until the end. */
  private static void run(Installation here, String line) throws Exception {
    if (line.startsWith("crail.")) {
      here.configure(line);
    } else if (line.matches("bin/crail (namenode|datanode)\\b.*")) {
      here.serve(line, " serves ");
    } else if (line.matches("(bin/)?crail .* --watch\\b.*")) {
      here.serve(line, "(?m)^datanode |online");
    } else if (!PageBlock.isSetting(line)) {
      here.run(line);
    }
  }

  @Test
  void nothingIsLeftOutThatNoPageHas() throws IOException {
    List<NotRun> unused = new ArrayList<>(NOT_RUN);
    TreeSet<String> unknown = new TreeSet<>(SHORT);
    for (PageBlock block : PageBlock.ofAllPages()) {
      unknown.remove(block.place());
      if (block.isForUse()) {
        for (String line : block.commands()) {
          unused.removeIf(each -> each.covers(block.place(), line));
        }
      }
    }
    assertEquals(List.of(), unused);
    assertEquals(new TreeSet<>(), unknown);
  }

  @Test
  void theTarballHasAllThatItsPageNames() throws IOException {
    TreeSet<String> missing = new TreeSet<>();
    String page = Files.readString(HOME.resolve("README.md"));
    for (Matcher code = CODE.matcher(page); code.find(); ) {
      String path = code.group(1).split(" ")[0];
      // What the page says that only a clone has.
      if (path.contains("/") && !path.equals("bin/test") && !path.equals("lib/native/")) {
        if (!Files.exists(HOME.resolve(path))) {
          missing.add(path);
        }
      }
    }
    try (Stream<Path> parts = Files.list(HOME)) {
      for (Path part : parts.filter(Files::isDirectory).toList()) {
        if (!page.contains("`" + part.getFileName() + "/`")) {
          missing.add(part.getFileName() + "/ is not on the page");
        }
      }
    }
    assertEquals(new TreeSet<>(), missing);
  }

  @Test
  void thePageOfTheTarballIsThatOfTheClone() throws IOException {
    assertEquals(
        Files.readString(ROOT.resolve(PageBlock.TARBALL)),
        Files.readString(HOME.resolve("README.md")));
  }

  @Test
  void everyLinkInTheTarballLeadsSomewhere() throws IOException {
    TreeSet<String> dead = new TreeSet<>();
    int links = 0;
    try (Stream<Path> files = Files.walk(HOME.toRealPath())) {
      for (Path page : files.filter(file -> file.toString().endsWith(".md")).toList()) {
        for (Matcher link = LINK.matcher(Files.readString(page)); link.find(); links++) {
          if (!Files.exists(page.resolveSibling(link.group(1)))) {
            dead.add(page + ": " + link.group(1));
          }
        }
      }
    }
    assertEquals(new TreeSet<>(), dead);
    assertTrue(links > 0);
    assertFalse(places().isEmpty());
  }
}
