/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks real shells what they complete with the scripts of {@code crail completion}. */
@Tag("once")
class ShellCompletionTest {
  /** Prints what is completed behind the words of its arguments; the last one is incomplete. */
  private static final String BASH =
      """
      source "$1" && shift
      COMP_WORDS=("$@")
      COMP_CWORD=$(($# - 1))
      _crail
      printf '%s\\n' "${COMPREPLY[@]}"
      """;

  private static final String ZSH =
      """
      compdef() { }
      compadd() {
        while [[ $1 != -- ]]; do
          [[ $1 = -[pS] ]] && shift
          shift
        done
        shift
        print -l -- $@
      }
      _files() { print FILES }
      _describe() { print -l -- ${(P)2} }
      source $1 && shift
      words=("$@")
      CURRENT=$#
      _crail
      """;

  @TempDir private Path directory;

  private String script(String shell) throws Exception {
    Ran made = Ran.run(directory, "completion", shell);
    assertEquals(0, made.code(), made::toString);
    return Files.writeString(directory.resolve("script"), made.stdout()).toString();
  }

  private static String run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), text);
    return text;
  }

  private TreeSet<String> bash(String... words) throws Exception {
    TreeSet<String> command =
        new TreeSet<>(
            run(line(List.of("bash", "-c", BASH, "bash", script("bash")), words)).lines().toList());
    command.remove("");
    return command;
  }

  /** A shell's own arguments, and what is asked. */
  private static List<String> line(List<String> shell, String... words) {
    return Stream.concat(shell.stream(), Stream.of(words)).toList();
  }

  @Test
  void bashKnowsCommandsOptionsAndKeys() throws Exception {
    run(List.of("bash", "-n", script("bash")));
    assertEquals(new TreeSet<>(List.of("datanode", "datanodes")), bash("crail", "datan"));
    assertEquals(new TreeSet<>(List.of("removeDatanode")), bash("crail", "help", "rem"));
    assertTrue(bash("crail", "").containsAll(List.of("ls", "df", "help")));
    assertEquals(new TreeSet<>(List.of("--recursive")), bash("crail", "ls", "--r"));
    assertEquals(new TreeSet<>(List.of("--set")), bash("crail", "ls", "-l", "/x", "--s"));
    assertTrue(bash("crail", "ls", "-").containsAll(List.of("-l", "--long", "--conf")));
    assertEquals(new TreeSet<>(), bash("crail", "ls", ""), "no paths of the store");
    assertEquals(new TreeSet<>(List.of("crail.blocksize")), bash("crail", "getconf", "crail.blo"));
    assertEquals(
        new TreeSet<>(List.of("crail.blocksize=")), bash("crail", "df", "--set", "crail.blo"));
    assertEquals(new TreeSet<>(List.of("-Dcrail.blocksize=")), bash("crail", "-Dcrail.blo"));
    assertEquals(
        new TreeSet<>(List.of("--bytes")),
        bash("crail", "-Dcrail.blocksize", "=", "1m", "--conf", "x", "df", "--by"));
    assertTrue(bash("crail", "df", "--").containsAll(List.of("--json", "--watch")));
    assertEquals(
        new TreeSet<>(List.of("write", "writeAsync", "writeInt")),
        bash("crail", "iobench", "-t", "write"));
    assertEquals(new TreeSet<>(List.of("table")), bash("crail", "mkdir", "--type", "ta"));
    assertEquals(new TreeSet<>(List.of("bash")), bash("crail", "completion", "b"));
    assertEquals(new TreeSet<>(List.of("-rm", "-put")), intersect(bash("crail", "fs", "-")));
    assertTrue(bash("crail", "compare", "--").contains("--only"));
  }

  private static TreeSet<String> intersect(TreeSet<String> words) {
    words.retainAll(List.of("-rm", "-put"));
    return words;
  }

  private TreeSet<String> zsh(String... words) throws Exception {
    return new TreeSet<>(
        run(line(List.of("zsh", "-f", "-c", ZSH, "zsh", script("zsh")), words)).lines().toList());
  }

  @Test
  void zshKnowsCommandsOptionsAndKeys() throws Exception {
    boolean there =
        new ProcessBuilder("bash", "-c", "command -v zsh")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor()
            == 0;
    Assumptions.assumeTrue(there, "no zsh");
    assertTrue(
        zsh("crail", "")
            .contains("df:shows space by storage class, and counts files and datanodes"));
    assertTrue(zsh("crail", "ls", "-").containsAll(List.of("--recursive", "--conf")));
    assertTrue(zsh("crail", "df", "--set", "").contains("crail.blocksize"));
    assertTrue(zsh("crail", "-D").contains("crail.blocksize"));
    assertEquals(
        new TreeSet<>(List.of("directory", "multifile", "bag", "table")),
        zsh("crail", "mkdir", "-t", ""));
    assertEquals(new TreeSet<>(List.of("bash", "zsh")), zsh("crail", "completion", ""));
    assertTrue(zsh("crail", "put", "").contains("FILES"));
    assertTrue(zsh("crail", "help", "").stream().anyMatch(line -> line.startsWith("ls:")));
  }
}
