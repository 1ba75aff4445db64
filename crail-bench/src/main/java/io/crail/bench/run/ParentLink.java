/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.record.Figures;
import io.crail.bench.record.Wire;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A client's end of the connection with its parent process. When the parent ends, this process
 * ends: its thread is interrupted at once, and some seconds later the process is ended.
 *
 * <p>Its methods may be called by one thread after another.
 */
public final class ParentLink implements Cues, AutoCloseable {
  private static final long CLEANUP_MILLIS = TimeUnit.SECONDS.toMillis(10);

  /**
   * The orders for a client.
   *
   * @param client the index of the client
   * @param embedded as in {@link BenchContext}
   * @param arguments the arguments of the command
   * @param configuration keys that are set, with their values
   * @param more as in {@link Bench.Start}
   */
  public record Orders(
      int client,
      boolean embedded,
      List<String> arguments,
      Map<String, String> configuration,
      Map<String, String> more) {
    void write(DataOutputStream out) throws IOException {
      out.writeInt(client);
      out.writeBoolean(embedded);
      Wire.writeTexts(out, arguments);
      Wire.writeMap(out, configuration);
      Wire.writeMap(out, more);
    }

    static Orders read(DataInputStream in) throws IOException {
      return new Orders(
          in.readInt(), in.readBoolean(), Wire.readTexts(in), Wire.readMap(in), Wire.readMap(in));
    }
  }

  private final DataInputStream in;
  private final DataOutputStream out;
  private final BlockingQueue<Cue> cues = new LinkedBlockingQueue<>(Cue.values().length);
  private final Thread main = Thread.currentThread();
  private volatile boolean closed;

  /** Takes over both streams. */
  ParentLink(InputStream in, OutputStream out) {
    this.in = new DataInputStream(new BufferedInputStream(in));
    this.out = new DataOutputStream(new BufferedOutputStream(out));
  }

  /** Reads the orders. Called first. */
  Orders orders() throws IOException {
    Orders orders = Orders.read(in);
    Thread reader = new Thread(this::read, "bench-parent");
    reader.setDaemon(true);
    reader.start();
    return orders;
  }

  private void read() {
    try {
      while (!closed) {
        cues.put(Cue.values()[in.readUnsignedByte()]);
      }
    } catch (IOException | RuntimeException e) {
      endProcess();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void endProcess() {
    main.interrupt();
    try {
      main.join(CLEANUP_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!closed) {
      Runtime.getRuntime().halt(BenchRunner.FAILED);
    }
  }

  @Override
  public void await(Cue cue) throws IOException, InterruptedException {
    synchronized (this) {
      out.writeByte(Wire.AT);
      out.writeByte(cue.ordinal());
      out.flush();
    }
    // No deadline: others may take long. When the parent ends, this thread is interrupted.
    Cue given = cues.take();
    if (given != cue) {
      throw new IOException(cue + " expected, " + given + " came");
    }
  }

  @Override
  public synchronized void report(Figures figures) throws IOException {
    out.writeByte(Wire.ENDED);
    out.flush();
    out.writeByte(Wire.FIGURES);
    Wire.writeFigures(out, figures);
    out.flush();
  }

  /** Reports why this process ends. */
  synchronized void fail(String text) throws IOException {
    out.writeByte(Wire.FAILED);
    Wire.writeText(out, text);
    out.flush();
  }

  @Override
  public void close() throws IOException {
    closed = true;
    out.close();
  }
}
