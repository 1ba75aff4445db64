/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Loads the native library, and finds out why RDMA is unavailable. */
final class NativeLibrary {
  private static final String NAME = "disni";

  private static final File FILES = new File("/dev/infiniband");

  private NativeLibrary() {}

  /** Loads the library. Returns the reason when that fails, or an empty text. */
  static String load() {
    try {
      System.loadLibrary(NAME);
    } catch (UnsatisfiedLinkError e) {
      return notLoaded(e);
    }
    try {
      if (Verbs.belongsTogether()) {
        return "";
      }
    } catch (UnsatisfiedLinkError e) {
      // The library has this name but is another one. The answer is the same.
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
            + error.getMessage()
            + "; it needs librdmacm and libibverbs (Debian: librdmacm1, ibverbs-providers)";
      }
    }
    return "the native library "
        + file
        + " is not on java.library.path ("
        + path
        + "); it is built when a C compiler and the headers of rdma-core are there (Debian: gcc,"
        + " make, libibverbs-dev, librdmacm-dev)";
  }

  static Availability check(String loadProblem, long registeredBytes) {
    if (!loadProblem.isEmpty()) {
      return new Availability(false, List.of(), 0, loadProblem);
    }
    long memlock = Verbs.memlockLimitBytes();
    List<String> devices = new ArrayList<>();
    String problem;
    try {
      devices.addAll(Verbs.devices());
      problem = problem(devices, memlock, registeredBytes);
    } catch (VerbsException e) {
      problem = explain(e, "the RDMA devices");
    }
    return new Availability(problem.isEmpty(), devices, memlock, problem);
  }

  private static String problem(List<String> devices, long memlock, long registeredBytes) {
    if (devices.isEmpty()) {
      return noDevice();
    }
    String unusable = "";
    int usable = 0;
    for (String device : devices) {
      try {
        Verbs.device(device);
        usable++;
      } catch (VerbsException e) {
        unusable = explain(e, "the RDMA device " + device);
      }
    }
    if (usable == 0) {
      return unusable;
    }
    try {
      Verbs.destroyEventChannel(Verbs.createEventChannel());
    } catch (VerbsException e) {
      return explain(e, "the connection manager (/dev/infiniband/rdma_cm, module rdma_ucm)");
    }
    if (memlock < registeredBytes) {
      return "this process may lock "
          + memlock
          + " bytes of memory but means to register "
          + registeredBytes
          + "; raise the limit (ulimit -l, memlock in /etc/security/limits.conf, LimitMEMLOCK in"
          + " systemd, --ulimit memlock=-1 for a container)";
    }
    return "";
  }

  /** The kernel may know devices that this process cannot see, especially in a container. */
  private static String noDevice() {
    String[] known = new File("/sys/class/infiniband").list();
    if (known == null || known.length == 0) {
      return "there is no RDMA device (/sys/class/infiniband is empty)";
    }
    Arrays.sort(known);
    return "the RDMA devices "
        + Arrays.toString(known)
        + " have no files in /dev/infiniband that this process can see (container: --device"
        + " /dev/infiniband; else: modprobe -a ib_uverbs rdma_ucm)";
  }

  /**
   * Finds files without permission. The error number does not show that, since libibverbs tries
   * other places after a file that it may not open.
   */
  private static String explain(VerbsException e, String what) {
    File[] closed =
        FILES.listFiles(
            file ->
                (file.getName().startsWith("uverbs") || file.getName().equals("rdma_cm"))
                    && !(file.canRead() && file.canWrite()));
    String hint = "";
    if (closed != null && closed.length > 0) {
      Arrays.sort(closed);
      hint = "; this user may not open " + Arrays.toString(closed);
    }
    return what + " cannot be used: " + e.getMessage() + hint;
  }
}
