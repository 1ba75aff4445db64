/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Shows the resources of a Java process: this one, or another one of this host and user. */
final class ProcessProbe {
  static final String HEAP = "heap KiB";
  static final String DIRECT = "direct";
  static final String RESIDENT = "rss KiB";
  static final String DESCRIPTORS = "fds";
  static final String THREADS = "threads";

  private static final Pattern TOTAL = Pattern.compile("(?m)^Total +\\d+ +(\\d+)");
  private static final Pattern DIRECT_BUFFERS =
      Pattern.compile("(?m)^ *\\d+: +(\\d+) +\\d+ +java[.]nio[.]DirectByteBuffer ");
  private static final Pattern STATUS = Pattern.compile("(?m)^(VmRSS|Threads):\\s+(\\d+)");

  private final long pid;

  /** A process by its id. */
  ProcessProbe(long pid) {
    this.pid = pid;
  }

  /**
   * Collects garbage, then counts: live heap, resident memory, descriptors, threads, and direct
   * memory, in KiB for this process and as the number of its buffers for another one.
   */
  Map<String, Long> sample() throws Exception {
    Map<String, Long> sample = new LinkedHashMap<>();
    if (pid == ProcessHandle.current().pid()) {
      System.gc();
      sample.put(HEAP, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024);
      for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
        if (pool.getName().equals("direct")) {
          sample.put(DIRECT, pool.getMemoryUsed() / 1024);
        }
      }
    } else {
      String histogram = command("GC.class_histogram");
      sample.put(HEAP, number(TOTAL, histogram) / 1024);
      sample.put(DIRECT, number(DIRECT_BUFFERS, histogram));
    }
    Matcher status = STATUS.matcher(Files.readString(Path.of("/proc/" + pid + "/status")));
    while (status.find()) {
      sample.put(
          status.group(1).equals("VmRSS") ? RESIDENT : THREADS, Long.parseLong(status.group(2)));
    }
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      sample.put(DESCRIPTORS, descriptors.count());
    }
    return sample;
  }

  private static long number(Pattern pattern, String text) throws IOException {
    Matcher found = pattern.matcher(text);
    if (!found.find()) {
      throw new IOException("no " + pattern + " in " + text);
    }
    return Long.parseLong(found.group(1));
  }

  /** As jcmd does, which would be one more JVM for each. */
  private String command(String command) throws Exception {
    // Has the process listen.
    VirtualMachine.attach(String.valueOf(pid)).detach();
    try (SocketChannel channel =
        SocketChannel.open(UnixDomainSocketAddress.of("/tmp/.java_pid" + pid))) {
      String request = "1\0jcmd\0" + command + "\0\0\0";
      channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8)));
      return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
