/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.spark.application.Stores;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkEnv;
import org.apache.spark.broadcast.Broadcast;

/** What tests of broadcast values look at, in the driver and in executors. */
public final class Broadcasts {
  private static final Pattern BYTES = Pattern.compile("bytes (\\d+)");

  private Broadcasts() {}

  /** {@return bytes that cannot be compressed, the same for each call with one length} */
  public static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  /** {@return the bytes that this process has read from the store} */
  public static long bytesRead() throws IOException {
    return Stores.PROCESS.share(
        SparkEnv.get().conf(),
        store -> {
          Matcher matcher = BYTES.matcher(store.store().getStatistics().describe("core/input"));
          return matcher.find() ? Long.parseLong(matcher.group(1)) : -1;
        });
  }

  /** Lets this process forget a value, as if it had never read it. */
  static void forget(Broadcast<?> broadcast) {
    SparkEnv.get().blockManager().removeBroadcast(broadcast.id(), true);
    SparkEnv.get().broadcastManager().cachedValues().clear();
  }

  /** {@return what another process gets of a handle} */
  @SuppressWarnings("unchecked")
  static <T> T copy(T handle) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(handle);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (T) in.readObject();
    }
  }

  /** {@return the paths of all files of broadcast values, of all applications} */
  public static List<String> files(CrailStore store) throws Exception {
    List<String> files = new ArrayList<>();
    for (String root : children(store, "/")) {
      for (String directory : children(store, root)) {
        if (directory.endsWith("/broadcast")) {
          files.addAll(children(store, directory));
        }
      }
    }
    return files;
  }

  /** {@return the paths of the children} */
  public static List<String> children(CrailStore store, String path) throws Exception {
    List<String> paths = new ArrayList<>();
    Iterator<CrailNode> children = store.lookup(path).get().asContainer().listStatus();
    children.forEachRemaining(node -> paths.add(node.getPath()));
    return paths;
  }

  /** {@return the bytes of a file} */
  public static byte[] content(CrailStore store, String path) throws Exception {
    try (var in = store.lookup(path).get().asFile().getBufferedInputStream(0)) {
      return in.readAllBytes();
    }
  }

  /** Puts other bytes into a file. */
  public static void replace(CrailStore store, String path, byte[] bytes) throws Exception {
    store.delete(path, false).get();
    CrailNode node =
        store
            .create(
                path,
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get();
    try (CrailBufferedOutputStream out = node.asFile().getBufferedOutputStream(0)) {
      out.write(bytes);
    }
  }
}
