/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.limits;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** How a thread waits for bytes. */
enum WaitMode {
  /** In the read call. */
  BLOCKING {
    @Override
    Reader reader(SocketChannel channel) throws IOException {
      channel.configureBlocking(true);
      return new Reader() {
        @Override
        public int read(ByteBuffer into) throws IOException {
          return channel.read(into);
        }

        @Override
        public void close() {}
      };
    }
  },

  /** In a selector, which is epoll on Linux. */
  SELECTOR {
    @Override
    Reader reader(SocketChannel channel) throws IOException {
      channel.configureBlocking(false);
      Selector selector = Selector.open();
      channel.register(selector, SelectionKey.OP_READ);
      return new Reader() {
        @Override
        public int read(ByteBuffer into) throws IOException {
          while (true) {
            selector.select();
            selector.selectedKeys().clear();
            int length = channel.read(into);
            if (length != 0) {
              return length;
            }
          }
        }

        @Override
        public void close() throws IOException {
          selector.close();
        }
      };
    }
  },

  /** Does not sleep, but reads again until there are bytes. */
  SPIN {
    @Override
    Reader reader(SocketChannel channel) throws IOException {
      channel.configureBlocking(false);
      return new Reader() {
        @Override
        public int read(ByteBuffer into) throws IOException {
          while (true) {
            int length = channel.read(into);
            if (length != 0) {
              return length;
            }
            Thread.onSpinWait();
          }
        }

        @Override
        public void close() {}
      };
    }
  };

  /** Reads from one connection. */
  interface Reader extends AutoCloseable {
    /** Waits for bytes. Returns their number, or -1 at the end of the connection. */
    int read(ByteBuffer into) throws IOException;

    @Override
    void close() throws IOException;
  }

  /** A reader that waits this way. */
  abstract Reader reader(SocketChannel channel) throws IOException;
}
