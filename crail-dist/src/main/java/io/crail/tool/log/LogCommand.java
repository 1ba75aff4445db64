/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.log;

import io.crail.bench.report.Json;
import io.crail.common.ByteText;
import io.crail.common.Clock;
import io.crail.common.Printable;
import io.crail.common.config.Configuration;
import io.crail.namenode.LogCheck;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogCut;
import io.crail.namenode.log.LogExcerpt;
import io.crail.namenode.log.LogSurvey;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.Example;
import io.crail.tool.command.ExitCode;
import io.crail.tool.command.OptionsCommand;
import io.crail.tool.command.UsageException;
import io.crail.tool.report.CommandReport;
import io.crail.tool.report.ReportText;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.commons.cli.CommandLine;

/** Looks at, checks, prints and cuts the log of a namenode. */
public final class LogCommand extends OptionsCommand {
  private static final String LOOK = "look";
  private static final String CHECK = "check";
  private static final String PRINT = "print";
  private static final String CUT = "cut";
  private static final List<String> WAYS = List.of(LOOK, CHECK, PRINT, CUT);

  private static final String OF_NAMENODE = "namenode-";

  /** A namenode may write or remove what is just read. */
  private static final int ATTEMPTS = 2;

  private static final DateTimeFormatter LABEL =
      DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** Declares its options. */
  public LogCommand() {
    super(
        "log",
        "looks at, checks, prints and cuts the log of a namenode",
        "[look|check|print|cut] [directory]",
        """
        It reads the directory of a namenode on this host, and asks no namenode. Without a directory
        it is that of the namenode in crail.namenode.datapath.
          look    shows snapshots and files, and how far they are whole; the default
          check   makes all that is in the log, as a start does, and counts it once more
          print   prints records
          cut     ends the log after a record, or where it is damaged; no namenode may run
        Only cut changes something, and only after a yes. What it cuts off stays in the directory,
        under another name. Exit code 1 means that something is damaged, or that nothing was cut.
        """,
        valued("i", "index", "number", "the namenode, if the data path has several"),
        valued("f", "from", "number", "print: the first record"),
        valued("t", "to", "number", "print: the last record"),
        valued("k", "kind", "names", "print: only these kinds, as link,unlink"),
        valued("d", "id", "number", "print: only what names the node with this id"),
        valued("n", "name", "name", "print: only what has this name or path"),
        flag("s", "snapshot", "print: the records of the newest snapshot"),
        valued("a", "after", "number", "cut: the last record that stays"),
        flag("x", "at-damage", "cut: after the last record before the damage"),
        flag("y", "yes", "cut: do not ask"),
        flag("j", "json", "print JSON, for programs; records as an object a line"),
        flag("b", "bytes", "print plain numbers of bytes"));
  }

  @Override
  public List<Example> examples() {
    return List.of(
        new Example("crail log", "whether a start will read all, and from where"),
        new Example("crail log check", "what the namenode will have then"),
        new Example("crail log print --from 120001 | less", "what happened, record by record"),
        new Example("crail log print -k rename,unlink -n part-0", "what became of that name"),
        new Example("crail log cut --at-damage", "what it would cost to go on without a copy"));
  }

  @Override
  public List<String> operands() {
    return WAYS;
  }

  @Override
  public boolean takesFiles() {
    return true;
  }

  @Override
  public boolean usesCluster() {
    return false;
  }

  @Override
  protected int run(CommandContext context, CommandLine line) throws Exception {
    List<String> words = line.getArgList();
    boolean isNamed = !words.isEmpty() && WAYS.contains(words.get(0));
    String way = isNamed ? words.get(0) : LOOK;
    List<String> places = words.subList(isNamed ? 1 : 0, words.size());
    if (places.size() > 1) {
      throw new UsageException("one directory at most, but there are " + places);
    }
    refuse(line, way, PRINT, "f", "t", "k", "d", "n", "s");
    refuse(line, way, CUT, "a", "x", "y");
    if (places.size() == 1
        && !places.get(0).contains("/")
        && !Files.exists(Path.of(places.get(0)))) {
      throw new UsageException(
          "'" + places.get(0) + "' is no directory, and none of " + String.join(", ", WAYS));
    }
    if (!places.isEmpty() && line.hasOption("i")) {
      throw new UsageException("either a directory or --index");
    }
    if (way.equals(CUT) && line.hasOption("a") == line.hasOption("x")) {
      throw new UsageException("where to cut: either --after <number> or --at-damage");
    }
    if (way.equals(CUT) && line.hasOption("j")) {
      throw new UsageException("'crail log cut' prints no JSON");
    }
    RecordPrinter printer = RecordPrinter.of(context, line);
    Path directory = directory(context, line, places);
    try {
      return switch (way) {
        case CHECK -> check(context, line, directory);
        case PRINT -> print(printer, line, directory);
        case CUT -> cut(context, line, directory);
        default -> look(context, line, directory);
      };
    } catch (AccessDeniedException e) {
      throw new IOException(
          "this user may not use " + e.getFile() + "; run it as the namenode's user", e);
    }
  }

  private static void refuse(CommandLine line, String way, String other, String... letters)
      throws UsageException {
    for (String letter : letters) {
      if (!way.equals(other) && line.hasOption(letter)) {
        throw new UsageException("option -" + letter + " is for 'crail log " + other + "'");
      }
    }
  }

  private static Path directory(CommandContext context, CommandLine line, List<String> places)
      throws Exception {
    Path parent;
    if (!places.isEmpty()) {
      parent = Path.of(places.get(0));
    } else {
      String path = context.configuration().get(NameNodeKeys.DATA_PATH);
      if (path.isEmpty()) {
        throw new UsageException(
            NameNodeKeys.DATA_PATH.name() + " is not set; name the directory of the namenode");
      }
      parent = Path.of(path);
    }
    if (line.hasOption("i")) {
      return parent.resolve(OF_NAMENODE + number(line, "i", 0, 65_535));
    }
    if (!Files.isDirectory(parent)) {
      throw new IOException("there is no directory " + parent);
    }
    List<String> below;
    try (Stream<Path> files = Files.list(parent)) {
      below =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.matches(OF_NAMENODE + "[0-9]+"))
              .sorted()
              .toList();
    }
    if (below.size() > 1) {
      throw new UsageException(
          parent
              + " has "
              + String.join(", ", below)
              + "; choose one, as "
              + parent.resolve(below.get(0)));
    }
    return below.isEmpty() ? parent : parent.resolve(below.get(0));
  }

  private static int show(CommandContext context, CommandLine line, CommandReport report) {
    if (line.hasOption("j")) {
      context.out().print(Json.of(report.value()));
    } else {
      report.print(text(context, line));
    }
    report.warnings().forEach(each -> context.err().println(Printable.line(each)));
    return report.exitCode();
  }

  private static ReportText text(CommandContext context, CommandLine line) {
    return new ReportText(
        context.out(), context.colours(), line.hasOption("b") ? String::valueOf : ByteText::of);
  }

  private static int look(CommandContext context, CommandLine line, Path directory)
      throws Exception {
    try (FileLogDirectory log = FileLogDirectory.openToRead(directory)) {
      return show(context, line, LogReport.of(directory, LogSurvey.of(log)));
    }
  }

  private static int check(CommandContext context, CommandLine line, Path directory)
      throws Exception {
    Configuration conf = context.configuration();
    try (FileLogDirectory log = FileLogDirectory.openToRead(directory)) {
      for (int attempt = 1; ; attempt++) {
        try {
          LogCheck found = LogCheck.run(log, conf, Clock.SYSTEM, new Random());
          if (found == null) {
            throw new IOException("there is no log in " + directory);
          }
          return show(context, line, new LogCheckReport(directory.toString(), found));
        } catch (LogCheck.TooLittleMemory e) {
          throw new IOException(
              "this command has too little memory, which says nothing of the log: set"
                  + " CRAIL_CLIENT_OPTS=-Xmx<as much as the namenode has>",
              e);
        } catch (IOException e) {
          // What a namenode writes or removes meanwhile may look like damage.
          if (attempt == ATTEMPTS) {
            throw new IOException(
                "DAMAGED: " + e.getMessage() + "; 'crail log' shows what is whole", e);
          }
        }
      }
    }
  }

  private static int print(RecordPrinter printer, CommandLine line, Path directory)
      throws Exception {
    try (FileLogDirectory log = FileLogDirectory.openToRead(directory)) {
      if (line.hasOption("s")) {
        LogExcerpt.readSnapshot(log, printer.from(), printer.to(), printer);
      } else {
        LogExcerpt.read(log, printer.from(), printer.to(), printer);
      }
    }
    return 0;
  }

  private static int cut(CommandContext context, CommandLine line, Path directory)
      throws Exception {
    requireOwner(directory);
    requireNoPeers(directory);
    try (FileLogDirectory log = FileLogDirectory.open(directory)) {
      LogCut cut =
          line.hasOption("x")
              ? LogCut.atDamage(log)
              : LogCut.after(log, RecordPrinter.number(line, "a", 1));
      LogReport.printPlan(text(context, line), directory, cut);
      if (cut.changed().isEmpty()) {
        return 0;
      }
      if (!line.hasOption("y") && !context.confirms("Cut it?")) {
        context.err().println("crail log: nothing was changed; --yes cuts it");
        return ExitCode.FAILURE;
      }
      String label = LABEL.format(Instant.now());
      cut.perform(label);
      LogSurvey now = LogSurvey.of(log);
      LogReport.printCut(text(context, line), LogCut.BEGIN + label + "-", now);
      return now.damage().isEmpty() && now.last() == cut.last() ? 0 : ExitCode.FAILURE;
    }
  }

  /** What is cut here would come back from the peers, or be missed by them. */
  private static void requireNoPeers(Path directory) throws IOException {
    Path peers = directory.resolveSibling(directory.getFileName() + "-peers");
    if (Files.exists(peers)) {
      throw new IOException(
          directory
              + " is a peer's copy of the log of a namenode with standbys, which the other peers"
              + " have too. Start this peer without this directory and "
              + peers.getFileName()
              + " only as docs/standby.md says");
    }
  }

  /** A namenode could not write what another user, such as root, makes in its directory. */
  private static void requireOwner(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new IOException("there is no directory " + directory);
    }
    Object own = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    if (!own.equals(Files.getAttribute(directory, "unix:uid"))) {
      throw new IOException(
          directory
              + " belongs to "
              + Files.getOwner(directory).getName()
              + ", whose namenode could not write what you make there; run it as that user");
    }
  }
}
