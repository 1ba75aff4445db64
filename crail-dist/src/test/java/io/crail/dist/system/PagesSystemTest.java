/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands of pages as they stand there, in an installation from the tarball. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.home", matches = ".+")
class PagesSystemTest {
  private static final Path ROOT = Path.of("..");
  private static final Path HOME = Path.of(System.getProperty("crail.home", ""));
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(#[^)]*)?\\)");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  @TempDir private Path directory;

  /** The indented lines of a section, without their comments. */
  private static List<String> lines(Path page, String section) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean inside = false;
    for (String line : Files.readAllLines(page)) {
      if (line.startsWith("## ")) {
        inside = line.equals("## " + section);
      } else if (inside && line.startsWith("    ")) {
        lines.add(line.replaceAll(" +#.*", "").strip());
      }
    }
    assertFalse(lines.isEmpty(), page + " has no commands in " + section);
    return lines;
  }

  /** Runs each line: a setting goes into the site file, and servers stay until the end. */
  private void run(Path page, String... sections) throws Exception {
    try (Installation here = new Installation(directory.resolve("crail"))) {
      for (String section : sections) {
        for (String line : lines(page, section)) {
          if (line.startsWith("crail.")) {
            here.configure(line);
          } else if (line.matches("bin/crail (namenode|datanode)\\b.*")) {
            here.serve(line);
          } else if (!line.equals("bin/test")) {
            here.run(line);
          }
        }
      }
    }
  }

  @Test
  void thoseOfTheTarballsOwnPageWork() throws Exception {
    run(HOME.resolve("README.md"), "Try it", "A cluster on this host");
  }

  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void thoseOfTheReadmeWork() throws Exception {
    run(ROOT.resolve("README.md"), "Try it", "A cluster");
  }

  @Test
  @EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
  void thoseForTheStartOnOneHostWork() throws Exception {
    run(ROOT.resolve("docs/getting-started.md"), "One host");
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
  }
}
