/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A process of Crail. Started through {@code bin/crail} of the layout that {@code -Dcrail.home=}
 * names. Without that property, started as a Java process with this one's class path.
 */
final class CrailProcess implements AutoCloseable {
  private static final String JAVA_HOME = System.getProperty("java.home");

  /** The processor that servers run on; on an emulated machine a JVM keeps to one. */
  private static final String SERVER_PROCESSOR = System.getProperty("crail.test.serverprocessor");

  /**
   * Options for bin/crail. Its processes live for seconds here, most of which the second compiler
   * and the loading of classes would take. The long tests have both, as users do.
   */
  static final String QUICK_START =
      Boolean.getBoolean("crail.test.long")
          ? ""
          : System.getProperty("crail.test.quickstart", "-XX:TieredStopAtLevel=1");

  private final String name;
  private final Process process;
  private final Output out;
  private final Output err;

  private CrailProcess(String name, ProcessBuilder builder) throws IOException {
    this.name = name;
    builder.environment().put("JAVA_HOME", JAVA_HOME);
    builder.environment().remove("CRAIL_HOME");
    builder.environment().putIfAbsent("CRAIL_EXTRA_JAVA_OPTIONS", QUICK_START);
    if (SERVER_PROCESSOR != null) {
      // On an emulated machine: see bin/rdma-vm --help.
      builder.environment().put("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");
    }
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    this.process = builder.start();
    this.out = new Output(process.getInputStream());
    this.err = new Output(process.getErrorStream());
  }

  /** Starts {@code crail} with these arguments, and with {@code directory} as its configuration. */
  static CrailProcess crail(Path directory, String... arguments) throws IOException {
    return crail(List.of(), directory, arguments);
  }

  /** Starts it through a command that takes it as its last arguments, and becomes it. */
  static CrailProcess crail(List<String> through, Path directory, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(through);
    boolean serves = List.of("namenode", "datanode").contains(arguments[0]);
    if (serves && SERVER_PROCESSOR != null) {
      command.addAll(List.of("taskset", "-c", SERVER_PROCESSOR));
    }
    String home = System.getProperty("crail.home");
    if (home != null) {
      command.add(home + "/bin/crail");
    } else {
      command.addAll(java());
      Path logging = directory.resolve("log4j2-server.xml");
      if (serves && Files.exists(logging)) {
        // As bin/crail does.
        command.add("-Dlog4j2.configurationFile=" + logging);
      }
      command.add("io.crail.tool.Main");
    }
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("CRAIL_CONF_DIR", directory.toString());
    return new CrailProcess("crail " + String.join(" ", arguments), builder);
  }

  /** A line of a shell that runs {@code crail} with a configuration; its arguments may follow. */
  static String shellLine(Path directory) {
    String home = System.getProperty("crail.home");
    List<String> command = new ArrayList<>();
    if (home != null) {
      command.add(home + "/bin/crail");
    } else {
      command.addAll(java());
      command.add("io.crail.tool.Main");
    }
    String variables =
        "JAVA_HOME='%s' CRAIL_CONF_DIR='%s' CRAIL_EXTRA_JAVA_OPTIONS='%s'"
            .formatted(JAVA_HOME, directory, QUICK_START);
    return variables + " '" + String.join("' '", command) + "'";
  }

  /** Starts a program of these tests. */
  static CrailProcess program(Class<?> main, String... arguments) throws IOException {
    return program(List.of(), main, arguments);
  }

  /** Starts a program of these tests, through a command that takes it as its last arguments. */
  static CrailProcess program(List<String> through, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(through);
    command.addAll(java());
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return new CrailProcess(main.getSimpleName(), new ProcessBuilder(command));
  }

  /** Starts a program with a class path of its own. */
  static CrailProcess program(
      List<Path> classPath, Map<String, String> environment, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(javaFlags());
    command.add("-cp");
    command.add(String.join(":", classPath.stream().map(Path::toString).toList()));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    return new CrailProcess(main.getSimpleName(), builder);
  }

  /** Starts a program of others; its options of the JVM come after those of all programs. */
  static CrailProcess foreign(
      String classPath, Map<String, String> environment, List<String> options, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(javaFlags());
    command.addAll(options);
    command.addAll(List.of("-cp", classPath));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    return new CrailProcess(arguments[0], builder);
  }

  /** Starts a JVM with nothing but these arguments, and these variables in its environment. */
  static CrailProcess plainJava(Map<String, String> environment, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(JAVA_HOME + "/bin/java"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    return new CrailProcess("java " + arguments[arguments.length - 1], builder);
  }

  /**
   * Runs a line in a shell, in a directory whose programs come first, with no variable of Crail but
   * options of the JVM.
   */
  static CrailProcess shell(Path directory, String line) throws IOException {
    ProcessBuilder builder = new ProcessBuilder("bash", "-c", "set -o pipefail; " + line);
    builder.directory(directory.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("CRAIL_"));
    Path programs = directory.toAbsolutePath().resolve("bin");
    builder
        .environment()
        .merge("PATH", "", (path, nothing) -> programs + ":" + JAVA_HOME + "/bin:" + path);
    return new CrailProcess(line, builder);
  }

  private static List<String> java() {
    List<String> command = new ArrayList<>(javaFlags());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    return command;
  }

  private static List<String> javaFlags() {
    List<String> command = new ArrayList<>();
    command.add(JAVA_HOME + "/bin/java");
    if (Runtime.version().feature() >= 24) {
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    String libraries = System.getProperty("java.library.path");
    command.addAll(List.of("-Djava.library.path=" + libraries, "-Xmx256m", "-XX:+UseSerialGC"));
    return command;
  }

  /** Waits for a line on stdout that matches, and gives the match. */
  Matcher await(String pattern, Duration patience) throws Exception {
    Pattern compiled = Pattern.compile(pattern);
    Matcher[] found = new Matcher[1];
    Await.until(
        name + " prints " + pattern + "; it has printed:\n" + out.text() + err.text(),
        patience,
        () -> {
          for (String line : out.lines()) {
            Matcher matcher = compiled.matcher(line);
            if (matcher.find()) {
              found[0] = matcher;
              return true;
            }
          }
          if (!process.isAlive() && out.isAtEnd()) {
            throw new AssertionError(
                name + " has ended with " + process.exitValue() + "\n" + out.text() + err.text());
          }
          return false;
        });
    return found[0];
  }

  /** Waits for the end and gives the exit code. */
  int awaitExit(Duration patience) throws Exception {
    if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError(name + " still runs\n" + out.text() + err.text());
    }
    Await.until("output of " + name, Duration.ofSeconds(60), () -> out.isAtEnd() && err.isAtEnd());
    return process.exitValue();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** SIGTERM. */
  void terminate() {
    process.destroy();
  }

  /** SIGSTOP or SIGCONT. */
  void signal(String signal) throws Exception {
    // The shell's own: a small system has no program of that name.
    String command = "kill -" + signal + " " + process.pid();
    int code = new ProcessBuilder("bash", "-c", command).start().waitFor();
    if (code != 0) {
      throw new AssertionError(
          "kill -" + signal + " of " + name + " gave " + code + "\n" + out.text() + err.text());
    }
    if (signal.equals("STOP")) {
      // The signal is only sent; each thread stops when it is scheduled next.
      Await.until(
          "all threads of " + name + " are stopped", Duration.ofSeconds(60), this::isStopped);
    }
  }

  /**
   * The numbers of a stopped process's threads that use the processor themselves, and wait for
   * nothing.
   *
   * @param name the name of a thread; its first group is the number
   */
  List<Integer> computing(Pattern name) throws IOException {
    List<Integer> found = new ArrayList<>();
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        Matcher matcher = name.matcher(Files.readString(thread.resolve("comm")).strip());
        // -1: in no system call.
        if (matcher.matches() && Files.readString(thread.resolve("syscall")).startsWith("-1")) {
          found.add(Integer.parseInt(matcher.group(1)));
        }
      }
    }
    return found;
  }

  private boolean isStopped() throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"));
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
      return true;
    } catch (NoSuchFileException e) {
      // A thread has ended meanwhile.
      return false;
    }
  }

  /** What it has written to stdout. */
  String stdout() {
    return out.text();
  }

  /** What it has written to stderr. */
  String stderr() {
    return err.text();
  }

  /** Ends the process: gently, then not. */
  @Override
  public void close() throws Exception {
    process.destroy();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      kill();
      throw new AssertionError(name + " did not end on SIGTERM\n" + out.text() + err.text());
    }
  }

  /** Reads a stream of the process, so that the process never blocks on output. */
  private static final class Output {
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;

    Output(InputStream stream) {
      reader = new Thread(() -> read(stream), "process-output");
      reader.setDaemon(true);
      reader.start();
    }

    private void read(InputStream stream) {
      try (BufferedReader lineReader =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
        for (String line = lineReader.readLine(); line != null; line = lineReader.readLine()) {
          synchronized (lines) {
            lines.add(line);
          }
        }
      } catch (IOException e) {
        synchronized (lines) {
          lines.add("(" + e + ")");
        }
      }
    }

    List<String> lines() {
      synchronized (lines) {
        return List.copyOf(lines);
      }
    }

    String text() {
      StringBuilder text = new StringBuilder();
      lines().forEach(line -> text.append(line).append('\n'));
      return text.toString();
    }

    boolean isAtEnd() {
      return !reader.isAlive();
    }
  }
}
