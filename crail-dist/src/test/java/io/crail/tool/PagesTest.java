/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
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
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

/** Tests what the code on pages is, without running it; a system test runs it. */
class PagesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern OPTION = Pattern.compile("--?[a-zA-Z][\\w-]*");
  private static final Pattern CLASSES = Pattern.compile("(?:-t |-Dtest=)'?([A-Z][\\w,]*Test)\\b");

  /**
   * Whose Java is compiled: the README's and the API's by JavaExamplesTest, others by tests of
   * their own.
   */
  private static final Pattern WITH_JAVA =
      Pattern.compile(
          "README\\.md|docs/java/\\w+\\.md|docs/spark/broadcast\\.md"
              + "|docs/(cache|compound|jobs|lifetime|quotas|shared-log|spread)\\.md");

  private static final Pattern CLASS = Pattern.compile("io\\.crail(\\.[a-z]\\w*)*\\.[A-Z]\\w*");

  @TempDir private Path empty;

  private static String page(PageBlock block) {
    return block.place().replaceAll("#.*", "");
  }

  @Test
  void eachBlockIsForAShellOrHasALanguage() throws Exception {
    TreeSet<String> wrong = new TreeSet<>();
    for (PageBlock block : PageBlock.ofAllPages()) {
      if (block.isForUse()) {
        for (String line : block.commands()) {
          if (!PageBlock.isSetting(line) && !begins(line)) {
            wrong.add(block.place() + ": neither a command nor a setting: " + line);
          }
        }
        continue;
      }
      switch (block.language()) {
        case "java" -> {
          if (!WITH_JAVA.matcher(page(block)).matches()) {
            wrong.add(block.place() + ": no test compiles its Java");
          }
        }
        case "python" -> {
          if (!page(block).equals("docs/spark/python.md")) {
            wrong.add(block.place() + ": no test runs its Python");
          }
        }
        case "xml" ->
            assertDoesNotThrow(
                () ->
                    DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(
                            new InputSource(new StringReader("<page>" + block.text() + "</page>"))),
                block.place());
        case "text" ->
            block.lines().stream()
                .filter(line -> line.matches("((bin|ci)/\\w+|crail |crail\\.\\w).*"))
                .forEach(line -> wrong.add(block.place() + ": is to be run: " + line));
        default -> wrong.add(block.place() + ": unknown language " + block.language());
      }
    }
    assertEquals(new TreeSet<>(), wrong);
  }

  /** Whether a line begins with a program, those of the project's being there. */
  private static boolean begins(String line) {
    String program = line.split(" ")[0];
    return program.contains("/") && !program.contains("=")
        ? program.matches("(bin|ci)/[a-z-]+") && Files.isExecutable(ROOT.resolve(program))
        : program.matches("[a-z][a-z0-9-]*(=.*)?");
  }

  /** Those of blocks, and those within sentences and tables. */
  private static Set<String> commands() throws IOException {
    Set<String> commands = new LinkedHashSet<>();
    for (PageBlock block : PageBlock.ofAllPages()) {
      if (block.isForUse()) {
        commands.addAll(block.commands());
      }
    }
    for (Path page : PageBlock.pages()) {
      Matcher code = CODE.matcher(Files.readString(page));
      while (code.find()) {
        commands.add(code.group(1));
      }
    }
    return commands;
  }

  /** Settings of other programs are not used here, but they name classes of Crail. */
  @Test
  void everyClassThatASettingNamesExists() throws IOException {
    Set<String> classes = new TreeSet<>();
    for (PageBlock block : PageBlock.ofAllPages()) {
      for (String line : block.commands()) {
        Matcher name = CLASS.matcher(PageBlock.isSetting(line) ? line : "");
        while (name.find()) {
          classes.add(name.group());
        }
      }
    }
    assertTrue(classes.size() > 2, classes::toString);
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.toList()) {
        classes.removeIf(
            name ->
                Files.exists(module.resolve("src/main/java/" + name.replace('.', '/') + ".java")));
      }
    }
    assertEquals(Set.of(), classes);
  }

  @Test
  void everyOptionThatIsNamedExists() throws IOException {
    TreeSet<String> unknown = new TreeSet<>();
    int options = 0;
    for (String command : commands()) {
      for (String option : optionsOf(command)) {
        options++;
        if (!Pattern.compile("(?<![\\w-])" + option + "(?![\\w-])").matcher(help(command)).find()) {
          unknown.add(option + ": " + command);
        }
      }
    }
    assertEquals(new TreeSet<>(), unknown);
    assertTrue(options > 100, options + " options were found");
  }

  /** The options of the first program of a command, of those that are the project's. */
  private static List<String> optionsOf(String command) {
    List<String> options = new ArrayList<>();
    String own = command.split(" -- | \\| |[;>]")[0];
    if (own.matches("((bin/)?crail (?!fs )[a-zA-Z]+|(bin|ci)/(?!crail )[a-z-]+) .*")) {
      for (String word : own.split("[\\s\\[\\]=]+")) {
        if (OPTION.matcher(word).matches() && !word.startsWith("-D")) {
          options.add(word);
        }
      }
    }
    return options;
  }

  private String help(String command) throws IOException {
    String[] words = command.split("[\\s\\[\\]]+");
    if (words[0].matches("(bin/)?crail")) {
      return Ran.run(empty, words[1], "--help").stdout();
    }
    return Files.readString(ROOT.resolve(words[0]));
  }

  @Test
  void everyTestThatIsNamedExists() throws IOException {
    Set<String> existing = new TreeSet<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path tests : modules.map(module -> module.resolve("src/test/java")).toList()) {
        if (Files.isDirectory(tests)) {
          try (Stream<Path> files = Files.walk(tests)) {
            files.forEach(file -> existing.add(file.getFileName().toString()));
          }
        }
      }
    }
    TreeSet<String> unknown = new TreeSet<>();
    for (String command : commands()) {
      Matcher classes = CLASSES.matcher(command);
      while (classes.find()) {
        for (String name : classes.group(1).split(",")) {
          if (!existing.contains(name + ".java") && !name.equals("SomeTest")) {
            unknown.add(command);
          }
        }
      }
    }
    assertEquals(new TreeSet<>(), unknown);
  }
}
