/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.codec.Codec;
import io.crail.rpc.Frame;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Forwards between honest clients and a server, and records the requests of each connection, frame
 * by frame. In front of a namenode it can replace the address of a datanode by that of another
 * recorder. Thread-safe.
 */
public final class RecordingProxy implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final List<Socket> sockets = new ArrayList<>();
  private final List<List<byte[]>> sessions = new ArrayList<>();
  private final RecordingProxy datanode;
  private InetSocketAddress server;

  /**
   * Starts a proxy.
   *
   * @param server the server to forward to; null when another recorder sets it
   * @param datanode the recorder that takes the datanode's place in this namenode's answers, or
   *     null
   */
  public RecordingProxy(InetSocketAddress server, RecordingProxy datanode) throws IOException {
    this.server = server;
    this.datanode = datanode;
    start(this::accept);
  }

  /** The address for clients. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.getLocalSocketAddress();
  }

  /** The requests of each connection so far. */
  public synchronized List<List<byte[]>> sessions() {
    return sessions.stream().map(List::copyOf).toList();
  }

  private synchronized void add(List<byte[]> session, byte[] frame) {
    session.add(frame);
  }

  private void accept() {
    try {
      while (true) {
        connect(listener.accept());
      }
    } catch (IOException e) {
      // This proxy was closed.
    }
  }

  private synchronized void connect(Socket client) throws IOException {
    Socket upstream = new Socket(server.getHostString(), server.getPort());
    client.setTcpNoDelay(true);
    upstream.setTcpNoDelay(true);
    sockets.add(client);
    sockets.add(upstream);
    List<byte[]> session = new ArrayList<>();
    sessions.add(session);
    Set<Long> descriptions = ConcurrentHashMap.newKeySet();
    start(
        () ->
            pass(
                client,
                upstream,
                frame -> {
                  ByteBuffer buffer = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
                  if (Frame.code(buffer, 0) == NameNodeOperations.DESCRIBE_DATANODE.number()) {
                    descriptions.add(Frame.correlationId(buffer, 0));
                  }
                  add(session, frame);
                  return frame;
                }));
    start(
        () ->
            pass(
                upstream,
                client,
                frame -> {
                  ByteBuffer buffer = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
                  return datanode != null
                          && Frame.code(buffer, 0) == ErrorCode.OK.number()
                          && descriptions.contains(Frame.correlationId(buffer, 0))
                      ? redirect(buffer)
                      : frame;
                }));
  }

  /** The same answer, with the other recorder's address for the datanode. */
  private byte[] redirect(ByteBuffer frame) throws CrailException {
    Codec<DescribeDatanode.Response> codec = DescribeDatanode.Response.CODEC;
    DescribeDatanode.Response described =
        codec.decode(frame, Frame.HEADER_LENGTH, frame.capacity() - Frame.HEADER_LENGTH);
    datanode.serve(new InetSocketAddress(described.host().toString(), described.port()));
    codec.encode(
        new DescribeDatanode.Response(
            described.uuidHigh(),
            described.uuidLow(),
            datanode.address().getPort(),
            described.storageClass(),
            described.online(),
            described.keeps(),
            described.totalRegions(),
            described.tier(),
            described.host(),
            described.traits(),
            described.ticket(),
            described.regions()),
        frame,
        Frame.HEADER_LENGTH);
    return frame.array();
  }

  /** The server to forward to. */
  synchronized InetSocketAddress server() {
    return server;
  }

  private synchronized void serve(InetSocketAddress newServer) {
    server = newServer;
  }

  private interface Passing {
    byte[] apply(byte[] frame) throws IOException;
  }

  private static void pass(Socket from, Socket to, Passing passing) {
    try (from;
        to) {
      DataInputStream in = new DataInputStream(from.getInputStream());
      OutputStream out = to.getOutputStream();
      byte[] header = in.readNBytes(Frame.HEADER_LENGTH);
      while (header.length == Frame.HEADER_LENGTH) {
        ByteBuffer head = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        byte[] frame = new byte[Frame.length(head, 0)];
        System.arraycopy(header, 0, frame, 0, header.length);
        in.readFully(frame, header.length, frame.length - header.length);
        out.write(passing.apply(frame));
        header = in.readNBytes(Frame.HEADER_LENGTH);
      }
    } catch (IOException e) {
      // One side has closed its connection.
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "recorder");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public synchronized void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
