/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A block of code on a page of Markdown: fenced, or indented after an empty line.
 *
 * @param place the page, as seen from the root of the project, {@code #}, and the heading of the
 *     second level above the block
 * @param language that of the fence; empty for an indented block
 * @param lines as they stand there, without the indentation of the first
 */
public record PageBlock(String place, String language, List<String> lines) {
  private static final Path ROOT = Path.of("..");

  /** The README of the tarball, where it is in a clone. */
  public static final String TARBALL = "crail-dist/src/main/assembly/README.md";

  private static final Pattern FENCE = Pattern.compile("( *)```(\\w*)");
  private static final Pattern INDENTED = Pattern.compile("( {4,})\\S.*");
  private static final Pattern SETTING = Pattern.compile("[a-z]+(\\.[A-Za-z]+)+ +(= )?\\S.*");
  private static final Set<String> SHELLS = Set.of("", "sh", "bash");

  /** The pages of a clone. */
  public static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      Stream.concat(top, docs)
          .filter(page -> page.toString().endsWith(".md"))
          .sorted()
          .forEach(pages::add);
    }
    return pages;
  }

  /** Those of all pages, that of the tarball included, in their order. */
  public static List<PageBlock> ofAllPages() throws IOException {
    List<Path> pages = pages();
    pages.add(ROOT.resolve(TARBALL));
    List<PageBlock> blocks = new ArrayList<>();
    for (Path page : pages) {
      blocks.addAll(of(ROOT.relativize(page).toString(), Files.readAllLines(page)));
    }
    return blocks;
  }

  /** Those of one page. */
  public static List<PageBlock> of(String page, List<String> lines) {
    List<PageBlock> blocks = new ArrayList<>();
    List<String> block = null;
    String place = page + "#";
    int indentation = 0;
    boolean fenced = false;
    String before = "";
    for (String line : lines) {
      Matcher fence = FENCE.matcher(line);
      Matcher indented = INDENTED.matcher(line);
      if (fenced) {
        fenced = !line.strip().equals("```");
        if (fenced) {
          block.add(without(indentation, line));
        } else {
          block = null;
        }
      } else if (fence.matches()) {
        fenced = true;
        indentation = fence.group(1).length();
        block = new ArrayList<>();
        blocks.add(new PageBlock(place, fence.group(2), block));
      } else if (indented.matches() && (block != null || before.isBlank())) {
        if (block == null) {
          indentation = indented.group(1).length();
          block = new ArrayList<>();
          blocks.add(new PageBlock(place, "", block));
        }
        block.add(without(indentation, line));
      } else {
        block = null;
        place = line.startsWith("## ") ? page + "#" + line.substring(3) : place;
      }
      before = line;
    }
    return blocks;
  }

  private static String without(int indentation, String line) {
    return line.substring(Math.min(indentation, line.length() - line.stripLeading().length()));
  }

  /** Whether it is for a shell or the configuration. Any other block has a language. */
  public boolean isForUse() {
    return SHELLS.contains(language);
  }

  /** What is given to a shell or the configuration: whole commands, without comments. */
  public List<String> commands() {
    List<String> commands = new ArrayList<>();
    String begun = "";
    for (String line : lines) {
      String all = begun + line.replaceAll("(^| +)#.*", "").strip();
      begun = all.endsWith("\\") ? all.substring(0, all.length() - 1) : "";
      if (begun.isEmpty() && !all.isEmpty()) {
        commands.add(all);
      }
    }
    return commands;
  }

  /** Whether a line is a key and its value. */
  public static boolean isSetting(String line) {
    return SETTING.matcher(line).matches();
  }

  /** All of it. */
  public String text() {
    return String.join("\n", lines);
  }
}
