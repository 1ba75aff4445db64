/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import java.io.File;
import java.io.IOException;
import java.lang.annotation.Native;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The native library. A controller is a handle, which is valid until {@link #destroy}; one thread
 * at a time may use it. What ends with a negative number gives an error number of Linux.
 */
final class Spdk {
  /** Must be changed with each change of a native method. */
  @Native static final int ABI = 3;

  private static final String NAME = "crailspdk";

  private static final String PROBLEM = load();

  private Spdk() {}

  /** Why the library cannot be used; empty when it can. */
  static String problem() {
    return PROBLEM;
  }

  private static String load() {
    try {
      System.loadLibrary(NAME);
      if (abi() == ABI) {
        return "";
      }
    } catch (UnsatisfiedLinkError e) {
      return notLoaded(e);
    }
    return "the native library "
        + System.mapLibraryName(NAME)
        + " on java.library.path is not that of this version of Crail";
  }

  private static String notLoaded(UnsatisfiedLinkError error) {
    String file = System.mapLibraryName(NAME);
    String path = System.getProperty("java.library.path", "");
    for (String directory : path.split(File.pathSeparator)) {
      if (!directory.isEmpty() && Files.exists(Path.of(directory, file))) {
        return "the native library "
            + Path.of(directory, file)
            + " cannot be loaded: "
            + error.getMessage();
      }
    }
    return "the native library "
        + file
        + " is not on java.library.path ("
        + path
        + "); it is built when pkg-config finds SPDK 25.09 or newer (PKG_CONFIG_PATH)";
  }

  private static native int abi();

  /**
   * Starts SPDK in this process, unless that was done; then the arguments do not count. Blocks. For
   * any thread.
   *
   * @param memoryMib how much memory SPDK has for itself
   * @param noHuge whether that memory is of usual pages
   * @return why it did not start, in words; null when it did
   */
  static native String start(int memoryMib, boolean noHuge);

  /**
   * Connects a controller, and starts and identifies it. Blocks.
   *
   * @param target the target in SPDK's form
   * @param host the name of this host
   * @param hostId its id, 16 bytes
   * @param depth the most commands in flight
   * @throws IOException with what SPDK says
   */
  static native long connect(
      String target,
      String host,
      byte[] hostId,
      int keepAliveMillis,
      int timeoutMillis,
      int depth,
      boolean headerDigest,
      boolean dataDigest)
      throws IOException;

  /**
   * The status, as in {@link io.crail.nvmf.NvmeStatus}, with which the target has refused the last
   * {@link #connect} or {@link #open} of this thread; 0 when it has not. It is for words: SPDK
   * reports it in its log only.
   */
  static native int connectStatus();

  /** Most commands in flight that the controller lets its host have. */
  static native int depth(long controller);

  /** The keep-alive time that the target counts; 0 when it counts none. */
  static native long keepAliveMillis(long controller);

  /** Most bytes of a command's data. */
  static native int maxTransfer(long controller);

  /** Gives the answer to an identify of the controller; false when there is none. */
  static native boolean data(long controller, ByteBuffer out);

  /** The first active namespace with a higher number, or 0. */
  static native int nextNamespace(long controller, int after);

  /** Gives the answer to an identify of a namespace; false when it is not active. */
  static native boolean namespaceData(long controller, int number, ByteBuffer out);

  /**
   * Opens the queue for I/O. Blocks. Both memories have to stay until {@link #destroy}.
   *
   * @param rings see {@link SpdkLayout}
   * @param places memory for the data of requests, in whole pages; null when requests may have
   *     their data anywhere
   */
  static native void open(long controller, ByteBuffer rings, int depth, ByteBuffer places)
      throws IOException;

  /** The address of a direct buffer's first byte. */
  static native long address(ByteBuffer memory);

  /**
   * Sends requests and collects completions.
   *
   * @param submissions how many requests the ring has, from its beginning
   * @return the number of completions in the ring; an error when the queue is lost and there are
   *     none
   */
  static native int poll(long controller, int submissions);

  /** Serves the admin queue; gives signs of life. An error when the target is lost. */
  static native int pollAdmin(long controller);

  /**
   * Ends the queue: no completion comes any more, and memory that is not in places is left alone.
   * Does not block.
   */
  static native void stop(long controller);

  /** Ends the controller. Blocks. */
  static native void destroy(long controller);
}
