/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Whether this process can use RDMA.
 *
 * @param usable whether the library is there, and a device that this process may open
 * @param devices the names of the devices, empty without a library
 * @param memlockLimitBytes how many bytes this process may register, see {@link
 *     Verbs#memlockLimitBytes()}; 0 without a library
 * @param problem a sentence that says what is missing and how to get it; empty when usable
 */
public record Availability(
    boolean usable, List<String> devices, long memlockLimitBytes, String problem) {
  private static final File FILES = new File("/dev/infiniband");

  /** Copies the list. */
  public Availability {
    devices = List.copyOf(devices);
  }

  /** {@link #check(long)} for no memory. */
  public static Availability check() {
    return check(0);
  }

  /**
   * Says whether this process can use RDMA: library, devices, permissions, lockable memory. Opens
   * and closes each device, so it is slow. Never throws.
   *
   * @param registeredBytes how many bytes the caller plans to register
   */
  public static Availability check(long registeredBytes) {
    String loadProblem = Verbs.loadProblem();
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
