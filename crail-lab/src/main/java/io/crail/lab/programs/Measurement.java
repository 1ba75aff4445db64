/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;

/**
 * The common part of all measurements: their processes and files, which end with them, and a
 * report. Stateless.
 */
public final class Measurement {
  private Measurement() {}

  /** Measures, and returns the report. */
  @FunctionalInterface
  public interface Body {
    /**
     * Measures.
     *
     * @param regions a directory in memory
     */
    String report(Programs programs, Path regions) throws IOException, InterruptedException;
  }

  /** Measures, prints the report and writes it to the file given with {@code --out}. */
  public static void run(String[] args, Body body) throws IOException, InterruptedException {
    String file = option(args, "--out", "");
    run(System.out, file.isEmpty() ? null : Path.of(file), body);
  }

  /** Measures, prints the report, and writes it to a file unless that is null. */
  public static void run(PrintStream out, Path file, Body body)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("crail-measure");
    Path regions = Files.createTempDirectory(Path.of("/dev/shm"), "crail-measure");
    Programs programs = new Programs(directory);
    // When this process ends, even by a signal, its programs end and its files are deleted.
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> cleanUp(programs, directory, regions), "cleanup"));
    try {
      String report = body.report(programs, regions);
      out.print(report);
      if (file != null) {
        Files.writeString(file, report);
      }
    } catch (IOException e) {
      // The clean-up has ended the program, so its error is not reported.
      if (!programs.isClosed()) {
        throw e;
      }
    }
  }

  private static void cleanUp(Programs programs, Path... directories) {
    try {
      programs.close();
      for (Path directory : directories) {
        deleteAll(directory);
      }
    } catch (IOException e) {
      System.err.println("measure: cannot clean up: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Deletes a directory and what is in it, also while its files vanish by themselves. */
  public static void deleteAll(Path directory) throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException e)
              throws IOException {
            if (e != null && !(e instanceof NoSuchFileException)) {
              throw e;
            }
            Files.deleteIfExists(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** How often each figure is taken. */
  public static int runs(String[] args) {
    return Integer.parseInt(option(args, "--runs", "3"));
  }

  /** The word after an option. */
  public static String option(String[] args, String name, String absent) {
    int at = Arrays.asList(args).indexOf(name);
    return at >= 0 && at + 1 < args.length ? args[at + 1] : absent;
  }
}
