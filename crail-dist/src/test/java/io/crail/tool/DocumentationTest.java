/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ApacheKeys;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.Configuration;
import io.crail.tool.command.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that the files, keys and commands that the hand-written pages name exist. */
class DocumentationTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]*)(#[^)]*)?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
  private static final int MOST_LINES = 150;

  /** Pages to look things up in, not to read, and the record of changes. */
  private static final Pattern REFERENCE =
      Pattern.compile(".*/(configuration|wire-protocol|figures|CHANGELOG)\\.md");

  private static final Pattern KEY = Pattern.compile("(?<![.\\w])crail(\\.[a-z]+)+(?![(\\w])");
  private static final Pattern COMMAND = Pattern.compile("(?:bin/|`)crail ([a-zA-Z]+)");

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    TreeSet<String> dead = new TreeSet<>();
    for (Path page : PageBlock.pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
        if (!Files.exists(target) || !hasHeading(target, link.group(2))) {
          dead.add(page + ": " + link.group().substring(2));
        }
      }
    }
    assertEquals(new TreeSet<>(), dead);
  }

  /** Whether a page has the heading that a link names, or the link names none. */
  private static boolean hasHeading(Path page, String anchor) throws IOException {
    if (anchor == null) {
      return true;
    }
    return HEADING
        .matcher(Files.readString(page))
        .results()
        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
        .map(heading -> "#" + heading.replaceAll("[^\\w\\- ]", "").replace(' ', '-'))
        .anyMatch(anchor::equals);
  }

  @Test
  void pagesAreShortUnlessTheyAreReferences() throws IOException {
    TreeSet<String> longer = new TreeSet<>();
    for (Path page : PageBlock.pages()) {
      int lines = Files.readAllLines(page).size();
      if (lines > MOST_LINES && !REFERENCE.matcher(page.toString()).matches()) {
        longer.add(page + ": " + lines);
      }
    }
    assertEquals(new TreeSet<>(), longer);
  }

  @Test
  void everyKeyThatIsNamedExists() throws IOException {
    TreeSet<String> known = new TreeSet<>();
    ApacheKeys.ALL.forEach(key -> known.add(key.name()));
    for (ConfigKeys room : Configuration.declarations()) {
      for (ConfigKey<?> key : room.keys()) {
        known.add(key.name());
      }
    }
    List<Path> texts = new ArrayList<>(PageBlock.pages());
    texts.add(ROOT.resolve("conf/crail-site.conf"));
    try (Stream<Path> deploy = Files.walk(ROOT.resolve("deploy"))) {
      deploy.filter(Files::isRegularFile).forEach(texts::add);
    }
    TreeSet<String> unknown = new TreeSet<>();
    for (Path text : texts) {
      Matcher key = KEY.matcher(Files.readString(text).replaceAll("-Dcrail\\.[a-z.]+", ""));
      while (key.find()) {
        if (!known.contains(key.group())
            && !key.group().matches("crail\\.(dat|home|xml|yaml|enumeratekeys)")
            // The user completes these.
            && !key.group().matches("crail\\.cache\\.(source|impl|budget)\\..*")) {
          unknown.add(text + ": " + key.group());
        }
      }
    }
    assertEquals(new TreeSet<>(), unknown);
  }

  @Test
  void everyCommandThatIsNamedExists() throws IOException {
    TreeSet<String> unknown = new TreeSet<>();
    for (Path page : PageBlock.pages()) {
      Matcher command = COMMAND.matcher(Files.readString(page));
      while (command.find()) {
        if (!Launcher.hasCommand(command.group(1))) {
          unknown.add(page + ": " + command.group(1));
        }
      }
    }
    assertEquals(new TreeSet<>(), unknown);
  }

  @Test
  void everyCommandHasARowOnItsPage() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/commands.md"));
    List<String> without =
        Launcher.commands().stream()
            .map(Command::name)
            .filter(
                name -> !Pattern.compile("(?m)^\\| `crail " + name + "[ `]").matcher(page).find())
            .toList();
    assertEquals(List.of(), without);
  }

  @Test
  void coordinatesAreThoseOfThisBuild() throws IOException {
    Pattern crails =
        Pattern.compile(
            "<groupId>io.crail</groupId>\\s*<artifactId>(.*?)</artifactId>\\s*<version>(.*?)<");
    Matcher own = crails.matcher(Files.readString(ROOT.resolve("pom.xml")));
    assertTrue(own.find());
    TreeSet<String> wrong = new TreeSet<>();
    int found = 0;
    for (Path page : PageBlock.pages()) {
      Matcher shown = crails.matcher(Files.readString(page));
      while (shown.find()) {
        found++;
        if (!shown.group(2).equals(own.group(2))
            || !Files.exists(ROOT.resolve(shown.group(1)).resolve("pom.xml"))) {
          wrong.add(page + ": " + shown.group());
        }
      }
    }
    assertEquals(new TreeSet<>(), wrong);
    assertTrue(found > 0);
  }

  @Test
  void linesAreShort() throws IOException {
    TreeSet<String> longer = new TreeSet<>();
    for (Path page : PageBlock.pages()) {
      List<String> lines = Files.readAllLines(page);
      for (int i = 0; i < lines.size(); i++) {
        // A row of a table has to be one line; the record of figures is as the program wrote it.
        boolean isFree = lines.get(i).startsWith("|") || page.endsWith("figures.md");
        if (lines.get(i).length() > 120 && !isFree) {
          longer.add(page + ":" + (i + 1));
        }
      }
    }
    assertEquals(new TreeSet<>(), longer);
  }

  @Test
  void theReadmeFitsOnTwoScreens() throws IOException {
    List<String> lines = Files.readAllLines(ROOT.resolve("README.md"));
    assertTrue(lines.size() <= 100, lines.size() + " lines");
  }
}
