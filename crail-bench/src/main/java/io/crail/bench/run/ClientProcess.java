/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import io.crail.bench.record.Wire;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * A process that measures for this one, and what it has said so far. What it says goes through a
 * queue that all of them share, so that one thread can wait for all; that thread calls the methods.
 */
public final class ClientProcess {
  /** The process said nothing more. */
  private static final int SILENT = 0;

  /** What a client has said, and when. */
  record Event(ClientProcess client, int kind, Object content, long nanos) {}

  private final int index;
  private final Process process;
  private final Queue<Event> events;
  private final DataOutputStream orders;
  private final Thread reader;
  private final Thread errors;
  private Cues.Cue waitsFor;
  private long endedNanos;
  private Figures figures;

  /**
   * Takes a process over.
   *
   * @param errorsTo where goes what it writes to its standard error, line by line
   */
  public ClientProcess(int index, Process process, Queue<Event> events, PrintStream errorsTo) {
    this.index = index;
    this.process = process;
    this.events = events;
    this.orders = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
    this.reader = start("bench-client-" + index, this::read);
    this.errors = start("bench-client-" + index + "-errors", () -> copyErrors(errorsTo));
  }

  private static Thread start(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void read() {
    String end = "ended";
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(process.getInputStream()))) {
      while (true) {
        int kind = in.readUnsignedByte();
        long nanos = System.nanoTime();
        events.add(new Event(this, kind, readContent(kind, in), nanos));
      }
    } catch (EOFException e) {
      // As it should be when all is done.
    } catch (IOException | RuntimeException e) {
      end = e.toString();
    }
    events.add(new Event(this, SILENT, end, System.nanoTime()));
  }

  private static Object readContent(int kind, DataInputStream in) throws IOException {
    return switch (kind) {
      case Wire.AT -> Cues.Cue.values()[in.readUnsignedByte()];
      case Wire.ENDED -> null;
      case Wire.FIGURES -> Wire.readFigures(in);
      case Wire.FAILED -> Wire.readText(in);
      default -> throw new IOException("it said " + kind + ", which means nothing");
    };
  }

  private void copyErrors(PrintStream errorsTo) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        errorsTo.println("client " + index + ": " + line);
      }
    } catch (IOException e) {
      // Its end is told by its standard output.
    }
  }

  /** Says what to do. */
  public void order(ParentLink.Orders order) throws IOException {
    order.write(orders);
    orders.flush();
  }

  /** Lets it take its next step. */
  public void cue(Cues.Cue cue) throws BenchException {
    waitsFor = null;
    try {
      orders.writeByte(cue.ordinal());
      orders.flush();
    } catch (IOException e) {
      throw new BenchException("client " + index + " is gone: " + e.getMessage());
    }
  }

  /**
   * Takes what it has said.
   *
   * @throws BenchException when it has failed, or ended before its time
   */
  void take(Event event) throws BenchException, InterruptedException {
    switch (event.kind()) {
      case Wire.AT -> waitsFor = (Cues.Cue) event.content();
      case Wire.ENDED -> endedNanos = event.nanos();
      case Wire.FIGURES -> figures = (Figures) event.content();
      case Wire.FAILED -> throw new BenchException("client " + index + ": " + event.content());
      default ->
          throw new BenchException(
              "client "
                  + index
                  + (process.waitFor(1, TimeUnit.SECONDS)
                      ? " ended with exit code " + process.exitValue()
                      : " broke off: " + event.content()));
    }
  }

  /** What it waits for; null while it does something. */
  Cues.Cue waitsFor() {
    return waitsFor;
  }

  /** When it said that all was done. */
  long endedNanos() {
    return endedNanos;
  }

  /** What it measured last. */
  Figures figures() {
    return figures;
  }

  /** Lets it end: by a word when all is done, else by the end of its input. */
  public void letEnd() {
    try {
      if (waitsFor == Cues.Cue.END) {
        cue(Cues.Cue.END);
      }
      orders.close();
    } catch (BenchException | IOException e) {
      // It has ended before.
    }
  }

  /** Waits for its end, and ends it at the deadline; true when this thread was interrupted. */
  public boolean awaitEnd(long deadlineNanos) {
    boolean interrupted = false;
    try {
      if (!process.waitFor(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        process.destroyForcibly().waitFor(1, TimeUnit.SECONDS);
      }
      reader.join(TimeUnit.SECONDS.toMillis(1));
      errors.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException e) {
      process.destroyForcibly();
      interrupted = true;
    }
    return interrupted;
  }
}
