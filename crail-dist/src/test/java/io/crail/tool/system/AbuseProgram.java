/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.common.Utf8;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.node.ListNodes;
import io.crail.protocol.node.Lookup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Many clients of a namenode that misbehave: {@code <host> <port> <kind>=<count> ...}. It uses one
 * thread, a selector and prepared bytes, so it costs the host little. A client whose connection the
 * namenode closes connects again. The program prints a line when all clients have connected, and
 * continues until it is killed.
 */
public final class AbuseProgram {
  /** The kind of misbehaviour. */
  enum Kind {
    /** Asks for listings without end, and reads nothing. */
    SILENT,
    /** Asks for dumps without end, and throws the answers away. */
    DUMPS,
    /** Asks for listings without end, and throws the answers away. */
    LISTINGS,
    /** Asks for listings without end, and reads some bytes of the answers now and then. */
    TRICKLE,
    /** Looks the same names up without end, and throws the answers away. */
    LOOKUPS,
    /** Begins a request and never ends it. */
    HALF,
    /** Shakes hands and does nothing. */
    IDLE
  }

  private static final int BLOCK_REQUESTS = 1_000;
  private static final long PAUSE_NANOS = 100_000_000;
  private static final int TRICKLE_BYTES = 64;

  private final InetSocketAddress namenode;
  private final Selector selector;
  private final long rootId;
  private final ByteBuffer waste = ByteBuffer.allocateDirect(256 * 1024);
  private final List<Client> trickling = new ArrayList<>();
  private final ArrayDeque<Client> returning = new ArrayDeque<>();

  private AbuseProgram(InetSocketAddress namenode) throws Exception {
    this.namenode = namenode;
    this.selector = Selector.open();
    try (NamenodeWire wire = new NamenodeWire(namenode)) {
      this.rootId = wire.rootId();
    }
  }

  /** Runs until it is killed. */
  public static void main(String[] arguments) throws Exception {
    AbuseProgram program =
        new AbuseProgram(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])));
    for (int i = 2; i < arguments.length; i++) {
      String[] words = arguments[i].split("=");
      for (int count = Integer.parseInt(words[1]); count > 0; count--) {
        program.new Client(Kind.valueOf(words[0])).connect();
      }
    }
    System.out.println("attacking");
    program.run();
  }

  private void run() throws IOException {
    long nextNanos = System.nanoTime();
    while (true) {
      selector.select(PAUSE_NANOS / 1_000_000);
      for (SelectionKey key : selector.selectedKeys()) {
        ((Client) key.attachment()).ready();
      }
      selector.selectedKeys().clear();
      if (System.nanoTime() - nextNanos >= 0) {
        nextNanos = System.nanoTime() + PAUSE_NANOS;
        trickling.forEach(Client::trickle);
        for (int count = returning.size(); count > 0; count--) {
          returning.pollFirst().connect();
        }
      }
    }
  }

  private ByteBuffer requests(Kind kind) {
    byte[] one =
        switch (kind) {
          case SILENT, TRICKLE, LISTINGS ->
              NamenodeWire.frame(
                  NameNodeOperations.LIST_NODES,
                  ListNodes.Request.CODEC,
                  new ListNodes.Request(rootId, 0, ListNodes.MAX_ENTRIES));
          case DUMPS ->
              NamenodeWire.frame(
                  NameNodeOperations.DUMP, Dump.Request.CODEC, new Dump.Request(1L << 60));
          case LOOKUPS ->
              NamenodeWire.frame(
                  NameNodeOperations.LOOKUP,
                  Lookup.Request.CODEC,
                  new Lookup.Request(Utf8.of("/none")));
          case HALF, IDLE -> new byte[0];
        };
    ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_REQUESTS * one.length);
    for (int i = 0; i < BLOCK_REQUESTS; i++) {
      block.put(one);
    }
    return block.flip();
  }

  /** One of the clients. */
  private final class Client {
    private final Kind kind;
    private final ByteBuffer block;
    private SocketChannel channel;
    private SelectionKey key;

    Client(Kind kind) {
      this.kind = kind;
      this.block = requests(kind);
      if (kind == Kind.TRICKLE) {
        trickling.add(this);
      }
    }

    void connect() {
      try {
        channel = SocketChannel.open();
        if (kind == Kind.TRICKLE || kind == Kind.SILENT) {
          // What the kernel takes for them is not the namenode's loss.
          channel.setOption(StandardSocketOptions.SO_RCVBUF, 4096);
        }
        channel.connect(namenode);
        channel.write(ByteBuffer.wrap(NamenodeWire.hello()));
        if (kind == Kind.HALF) {
          channel.write(ByteBuffer.wrap(NamenodeWire.hello(), 0, 20));
        }
        channel.configureBlocking(false);
        block.clear();
        int interest =
            switch (kind) {
              case SILENT, TRICKLE -> SelectionKey.OP_WRITE;
              case DUMPS, LISTINGS, LOOKUPS -> SelectionKey.OP_WRITE | SelectionKey.OP_READ;
              case HALF, IDLE -> SelectionKey.OP_READ;
            };
        key = channel.register(selector, interest, this);
      } catch (IOException e) {
        comeAgain();
      }
    }

    void ready() {
      try {
        if (key.isValid() && key.isReadable()) {
          read(waste.capacity());
        }
        if (key.isValid() && key.isWritable() && block.capacity() > 0) {
          if (!block.hasRemaining()) {
            block.flip();
          }
          channel.write(block);
        }
      } catch (IOException e) {
        comeAgain();
      }
    }

    void trickle() {
      try {
        if (channel.isOpen()) {
          read(TRICKLE_BYTES);
        }
      } catch (IOException e) {
        comeAgain();
      }
    }

    private void read(int most) throws IOException {
      waste.clear().limit(most);
      if (channel.read(waste) < 0) {
        throw new IOException("closed");
      }
    }

    private void comeAgain() {
      try {
        channel.close();
      } catch (IOException e) {
        // It is only to be gone.
      }
      returning.addLast(this);
    }
  }
}
