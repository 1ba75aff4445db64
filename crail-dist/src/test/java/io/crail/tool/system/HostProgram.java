/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.URI;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Hadoop program that uses Netty and SLF4J itself, and Crail only through paths. It prints what
 * it has found and where its libraries come from. Arguments: the URI of the file system.
 */
final class HostProgram {
  private static final Logger LOG = LoggerFactory.getLogger(HostProgram.class);

  private HostProgram() {}

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(
        "fs.AbstractFileSystem.crail.impl", "io.crail.hadoop.CrailAbstractFileSystem");
    URI uri = URI.create(arguments[0]);
    Path file = new Path(new Path(uri), "/host/file");
    byte[] written = new byte[3_000_001];
    new Random(1).nextBytes(written);
    try (FileSystem files = FileSystem.newInstance(uri, configuration)) {
      try (FSDataOutputStream out = files.create(file)) {
        out.write(written);
      }
      byte[] read = new byte[written.length];
      try (FSDataInputStream in = files.open(file)) {
        in.readFully(0, read);
      }
      System.out.println("same bytes: " + Arrays.equals(written, read));
      for (FileStatus status : files.listStatus(file.getParent())) {
        System.out.println("listed: " + status.getPath().getName() + " " + status.getLen());
      }
    }
    FileContext context = FileContext.getFileContext(uri, configuration);
    context.rename(file, new Path(file.getParent(), "moved"));
    System.out.println("moved: " + context.util().exists(new Path("/host/moved")));
    System.out.println("deleted: " + context.delete(file.getParent(), true));

    ByteBuf buffer = Unpooled.wrappedBuffer(new byte[] {1, 2});
    System.out.println("Netty of the host: " + (buffer.readShort() == 0x102));
    LOG.warn("SLF4J of the host");
    says(Unpooled.class);
    says(Logger.class);
    says(FileSystem.class);
    says(Class.forName("io.crail.CrailStore"));
    Class<?> epoll = Class.forName("io.crail.shaded.io.netty.channel.epoll.Epoll");
    says(epoll);
    System.out.println("epoll: " + epoll.getMethod("isAvailable").invoke(null));
    System.exit(0);
  }

  private static void says(Class<?> type) {
    String from = type.getProtectionDomain().getCodeSource().getLocation().getPath();
    System.out.println(type.getName() + " in " + from.substring(from.lastIndexOf('/') + 1));
  }
}
