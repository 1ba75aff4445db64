/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loads the native library, and finds out what is missing for RDMA. */
final class NativeLibrary {
  private static final String NAME = "disni";

  private static final int EACCES = 13;
  private static final int EPERM = 1;

  private NativeLibrary() {}

  /** Loads the library; returns what keeps it from being loaded, or nothing. */
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
      // A library of that name which is not ours; the answer is the same.
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
      return "there is no RDMA device (none in /sys/class/infiniband, or no module ib_uverbs)";
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

  private static String explain(VerbsException e, String what) {
    String hint =
        e.errno() == EACCES || e.errno() == EPERM
            ? "; this user may not open the files in /dev/infiniband"
            : "";
    return what + " cannot be used: " + e.getMessage() + hint;
  }
}
