/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.tool.command.Command;
import io.crail.tool.command.CommonOptions;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.OutputFailedException;
import io.crail.tool.command.ResultStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests command lines that need no cluster: which ones are refused, and the help of each command.
 */
@Timeout(120)
class LauncherTest {
  @TempDir private Path directory;

  @BeforeEach
  void configure() throws Exception {
    Files.writeString(
        directory.resolve("crail-site.conf"),
        "crail.namenode.address crail://127.0.0.1:1,127.0.0.1:2\n");
  }

  private Ran run(String line) {
    return Ran.run(directory, line.split(" "));
  }

  /** No command shows the wrapping of an error, whichever way it came. */
  @ParameterizedTest
  @ValueSource(strings = {"applications", "cache", "ls", "du", "df", "dump", "ping"})
  void withoutAnyNamenodeTheErrorIsASentence(String command) {
    Ran ran = run("-Dcrail.rpctimeout=2s " + command);
    assertEquals(ExitCode.FAILURE, ran.code(), ran.stderr());
    assertFalse(ran.stderr().contains("Exception"), ran.stderr());
    assertTrue((ran.stdout() + ran.stderr()).contains("127.0.0.1:"), ran::toString);
  }

  /** They are for a file system of Hadoop, and their names are the user's. */
  @Test
  void aCacheHasItsSourceFromTheCommandLine() {
    Ran ran =
        run(
            "hdfsbench -t getFile -f crailcache://logs/app.log"
                + " --set crail.cache.source.logs=file:///nonexistent --set crail.cache.timeout=1ms");
    assertEquals(ExitCode.FAILURE, ran.code(), ran.stderr());
    assertTrue(ran.stderr().contains("crailcache://logs/app.log does not exist"), ran::toString);
  }

  /** Command line, and what the first line on stderr has to name. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "nonsense | nonsense",
        "lss | did you mean 'ls'?",
        "removedatanode | did you mean 'removeDatanode'?",
        "help pnig | did you mean 'ping'?",
        "--embeded df | did you mean '--embedded'?",
        "-b df | options of a command follow it",
        "-Dnonsense df | -D",
        "-Dcrail.rpctimeout=never ping | never",
        "--set crail.rpctimeout=never ping | never",
        "df --byets | did you mean '--bytes'?",
        "df --embeded | did you mean '--embedded'?",
        "iobench --lop 1 -t write | did you mean '--loop'?",
        "compare --onyl x | did you mean '--only'?",
        "datanode -s 16g -c 1 | crail datanode -c 1 -- -s 16g",
        "datanode -s 16g --stay -c 1 | crail datanode --stay -c 1 -- -s 16g",
        "datanode -t tape -c 0 -- -s 1g | tape",
        "ping --set crail.storage.tcp.storagelimit=1 | between 4k and 1024t",
        "getconf crail.blocksiez | did you mean 'crail.blocksize'?",
        "completion fish | bash or zsh",
        "ping --nonsense | --nonsense",
        "ping surplus | surplus",
        "namenode -p 70000 | 70000",
        "namenode -p | p",
        "namenode -i 9 | 9",
        "datanode -c many | many",
        "datanode -c 999 | between 0 and 7",
        "version surplus | surplus",
        "--version surplus | surplus",
        "help ping surplus | surplus",
        "ping --conf /nonexistent | no such file: /nonexistent",
        "ping --conf / | / is a directory",
        "iobench -t getFile --conf / | / is a directory",
        "ping --set crail.storage.types=tcp,tcp | once",
        "ping --set crail.storage.types=tcp,tape | tape",
        "ping --set crail.namenode.address=a:1,b:2,A:1 | twice",
        "datanode -t flash | flash",
        "datanode -- -x 1 | -x",
        "datanode -- -s lots | lots",
        "iobench -t nonsense | nonsense",
        "iobench -t write -k none | none",
        "hdfsbench -t write | writeSequentialHeap",
        "hdfsbench -t getFile -f relative | relative",
        "hdfsbench -t getFile --set crail.rpctimout=1 | crail.rpctimeout",
        "compare --only redis | keyvalue",
        "compare --set crail.rpctimout=1 | crail.rpctimeout",
        "spark --only sort | terasort",
        "spark --ways ram | tmpfs",
        "spark --size lots | 64m",
        "spark --size 1 | 65536",
        "spark --runs 0 | 1 to 1000",
        "spark --cores none | whole number",
        "spark surplus | surplus",
        "spark --conf x | --conf",
        "spark --out /nonexistent/x | /nonexistent",
        "spark --set crail.rpctimout=1 | crail.rpctimeout",
        "ping --set crail.rpctimout=1 | crail.rpctimeout",
        "ping --set crail.rpctimeout=never | never",
        "ping --set nonsense | nonsense",
        "ping -Dcrail.namenode.rpctype=pigeon | pigeon",
        "removeDatanode -p 1 | -i",
        "drain | the address of a datanode is missing",
        "drain a:1 b:2 | b:2",
        "drain 10.0.0.7 | host:port",
        "drain -b none a:1 | none",
        "rebalance -t 0 | between 1 and 100",
        "rebalance -b 0 | 100m",
        "scale | option -m is missing",
        "scale -m 4 | option -s is missing",
        "scale -m 4 -n --low 80 | --low 80 % must be below --high 80 %",
        "scale -m 4 -n --high 30 | --low 50 % must be below --high 30 %",
        "scale -m 4 -n --high 101 | in percent",
        "scale -m 4 -n --target 40 | must be above --low 50 %",
        "scale -m 4 -n --least 5 | --least 5 must be at most --most 4",
        "scale -m 4 -n --rate none | 512k",
        "scale -m 4 -n --down-window ever | must be a time",
        "scale -m 4 -n --lease 5s | must be at least 39s",
        "scale -m 0 | between 1 and",
        "removeDatanode ::1 | must be host:port",
        "removeDatanode a:1 b:2 | one datanode",
        "df --watch never | must be a time",
        "df --watch=1ms | at least 100ms",
        "fsck --paths --json | --paths",
        "fsck --paths silent | lost or stale",
        "fsck --paths stale | --data",
        "fsck --data 0% | at most 100%",
        "fsck --data=many | at most 100%",
        "doctor --here --plain --json | --plain",
        "doctor --hosts --set crail.rpctimeout=5s | --set",
        "doctor --hosts --conf other.conf | --conf",
        "cache --load logs/2026 | whole path",
        "cache --load file:///tmp | scheme must be crailcache",
        "cache --load crailcache://logs/ --json | --json",
        "cache --load crailcache://logs/ --drop logs | two commands",
        "cache --load crailcache://logs/ -t 0 | between 1 and",
        "cache -t 2 | --load",
        "applications --top 0 | must be between 1 and"
      })
  void badCommandLineIsNamedInOneLine(String arguments, String named) {
    Ran refused = run(arguments);
    assertEquals(ExitCode.USAGE, refused.code(), refused.stdout() + refused.stderr());
    String complaint = refused.stderr().lines().findFirst().orElse("");
    assertTrue(complaint.contains(named), refused.stderr());
    assertFalse(refused.stderr().contains("\tat "), "no stack trace");
    assertEquals("", refused.stdout());
  }

  @Test
  void badConfigurationIsNamedWithItsLine() throws Exception {
    Path file = directory.resolve("crail-site.conf");
    Files.writeString(file, "# a comment\ncrail.rpctimeout soon\n");
    Ran refused = run("ping");
    assertEquals(ExitCode.USAGE, refused.code());
    assertEquals(
        "crail: "
            + file
            + ":2: key 'crail.rpctimeout' has the bad value 'soon': must be a time such as 250ms,"
            + " 10s or 5m"
            + System.lineSeparator(),
        refused.stderr());
  }

  @Test
  void aNameOfAFileThatIsNoneComesWithTheRightOne() throws Exception {
    Ran missing = run("getconf --conf " + directory.resolve("nothing"));
    assertEquals(ExitCode.USAGE, missing.code());
    assertTrue(
        missing.stderr().endsWith("; --conf takes a file such as conf/crail-site.conf\n"),
        missing::stderr);
    Ran withFile = run("getconf --conf " + directory);
    assertEquals(ExitCode.USAGE, withFile.code());
    String file = directory.resolve("crail-site.conf").toString();
    assertTrue(withFile.stderr().contains("; write --conf " + file), withFile::stderr);
    Path empty = Files.createDirectory(directory.resolve("empty"));
    Ran withoutFile = run("getconf --conf " + empty);
    assertEquals(ExitCode.USAGE, withoutFile.code());
    assertTrue(
        withoutFile.stderr().contains("is a directory without crail-site.conf"),
        withoutFile::stderr);
    assertEquals(0, run("getconf --conf " + file).code());
  }

  @Test
  void optionsOfEveryCommandMayStandInFrontOfIt() {
    assertEquals("7s\n", run("-Dcrail.rpctimeout=7s --verbose getconf crail.rpctimeout").stdout());
    assertEquals("7s\n", run("--set crail.rpctimeout=7s getconf CRAIL.rpcTimeout").stdout());
    assertEquals(
        """
        {
          "crail.rpctimeout": {
            "value": "7s",
            "origin": "the command line"
          }
        }
        """,
        run("--set crail.rpctimeout=7s getconf --json crail.rpctimeout").stdout());
    String thrice = "-DCrail.rpctimeout=7s -Dcrail.rpctimeout=8s -DCrail.rpctimeout=9s";
    assertEquals("9s\n", run(thrice + " getconf crail.rpctimeout").stdout());
    assertTrue(run("--verbose version").stdout().startsWith("crail "));
    assertTrue(run("--verbose --help").stdout().startsWith("Usage: crail <command>"));
    Ran none = run("-Dcrail.rpctimeout=7s");
    assertEquals(ExitCode.USAGE, none.code());
    assertTrue(none.stderr().startsWith("Usage: crail <command>"), none.stderr());
  }

  @Test
  void getconfShowsWhereValuesAreSet() {
    String all = run("getconf -Dcrail.rpctimeout=7s").stdout();
    assertTrue(all.matches("(?s).*\ncrail\\.rpctimeout +7s +\\(the command line\\)\n.*"), all);
    assertTrue(all.matches("(?s).*\ncrail\\.blocksize +1m +\\(default\\)\n.*"), all);
    String set = run("getconf --configured").stdout();
    assertEquals(
        "crail.namenode.address crail://127.0.0.1:1,127.0.0.1:2 ("
            + directory.resolve("crail-site.conf")
            + ":1)\n",
        set);
    assertEquals("1m\n", run("getconf CRAIL.BLOCKSIZE").stdout());
  }

  @Test
  void theVersionNamesAllThatHasToFit() {
    String version = run("version").stdout();
    assertTrue(
        version.matches("crail \\d[^$,]*(, commit \\w+(-dirty)?)?\nJava \\d+.*\nprotocol \\d+\n"),
        version);
  }

  /** A disk without room. */
  private static final class Full extends OutputStream {
    private int attempts;

    @Override
    public void write(int value) throws IOException {
      attempts++;
      throw new IOException("no room");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"help", "help ls", "ls --help", "fs --help", "getconf", "version"})
  void outputThatCannotBeWrittenIsAFailure(String line) {
    Full full = new Full();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream errors = new PrintStream(err, true, StandardCharsets.UTF_8);
    Launcher launcher = new Launcher(ResultStream.to(full), errors, name -> null);
    assertEquals(ExitCode.FAILURE, launcher.run(List.of(line.split(" "))));
    assertEquals(
        "crail: the output cannot be written: no room\n", err.toString(StandardCharsets.UTF_8));
    assertEquals(1, full.attempts, "a command ends at the first error");
  }

  @Test
  void aServerContinuesWithoutAReaderOfItsOutput() {
    ResultStream stream = ResultStream.to(new Full());
    stream.announce("namenode 0 of 1 serves");
    assertFalse(stream.checkError());
    assertThrows(OutputFailedException.class, () -> stream.println("a result"));
    assertTrue(stream.checkError());
  }

  static List<Command> commands() {
    return Launcher.commands();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandExplainsItself(Command command) {
    String name = command.name();
    Ran help = run(name + " --help");
    assertEquals(0, help.code(), help.stderr());
    assertTrue(help.stdout().contains("crail " + name), help.stdout());
    assertTrue(help.stdout().contains("\nExamples:\n  "), help.stdout());
    assertTrue(help.stdout().contains("--set"), help.stdout());
    assertEquals("", help.stderr());
    assertEquals(help.stdout(), run("help " + name).stdout());
    assertTrue(run("--help").stdout().contains("  " + name + " "));
    help.stdout().lines().forEach(line -> assertTrue(line.length() <= 120, line));
  }

  /** The part of an example that is a line of this command. */
  private static List<String> words(Example example) {
    String line = example.line().replaceAll("^.*(?=crail )", "").replaceAll("[|)].*", "");
    return List.of(line.strip().split(" "));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandHasExamplesThatCanBeParsed(Command command) throws Exception {
    assertFalse(command.examples().isEmpty());
    for (Example example : command.examples()) {
      List<String> words = words(example);
      assertEquals(List.of("crail", command.name()), words.subList(0, 2));
      CommonOptions options =
          CommonOptions.parse(words.subList(2, words.size()), command.commonOptionsComeFirst());
      if (command instanceof OptionsCommand declared) {
        declared.parse(options.rest());
      }
      List<String> known =
          command.options().stream().flatMap(each -> each.spellings().stream()).toList();
      for (String word : options.rest()) {
        assertTrue(!word.startsWith("--") || word.equals("--") || known.contains(word), word);
      }
    }
  }
}
