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
 * A process that measures on behalf of this one, and the messages it has sent so far. All processes
 * put their messages into one queue, so that one thread can wait for all. That thread calls the
 * methods.
 */
public final class ClientProcess {
  /** The process sent nothing more. */
  private static final int SILENT = 0;

  /** A message of a client, and when it came. */
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
   * Takes over a process.
   *
   * @param errorsTo receives the lines that the process writes to its standard error
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
      // Expected when all is done.
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
      default -> throw new IOException("it sent a message of the unknown kind " + kind);
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
      // The end of its standard output reports its end.
    }
  }

  /** Sends the orders. */
  public void order(ParentLink.Orders order) throws IOException {
    order.write(orders);
    orders.flush();
  }

  /** Allows the next step. */
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
   * Processes a message.
   *
   * @throws BenchException when the process has failed, or has ended too early
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

  /** The cue for which it waits; null while it works. */
  Cues.Cue waitsFor() {
    return waitsFor;
  }

  /** When it reported that all was done. */
  long endedNanos() {
    return endedNanos;
  }

  /** The figures that it sent last. */
  Figures figures() {
    return figures;
  }

  /** Lets it end: by a cue when all is done, otherwise by the end of its input. */
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

  /**
   * Waits for its end, and kills it at the deadline. Returns true when this thread was interrupted.
   */
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
