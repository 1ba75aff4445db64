/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.testkit.nemesis.NetworkNamespaces;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A run of the model-based tester with the parameters that {@code ci/torture --help} shows. If
 * processes must be cut off from the network, it creates their networks and starts itself again in
 * the hub of these.
 */
public final class ModelProgram {
  private static final long END_MILLIS = 60_000;

  private static volatile boolean ended;

  private ModelProgram() {}

  /** Ends with 1 when something is wrong. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 0; i + 1 < arguments.length; i += 2) {
      options.put(arguments[i], arguments[i + 1]);
    }
    String hub = options.remove("--hub");
    ModelRun.Parameters parameters = parameters(options);
    if (arguments.length % 2 != 0 || !options.isEmpty()) {
      System.err.println("torture: unknown or without a value: " + List.of(arguments));
      System.exit(2);
    }
    endOnRequest(Thread.currentThread());
    boolean right;
    if (!parameters.network()) {
      right = ModelRun.of(parameters, null).isEmpty();
    } else if (hub != null) {
      right = ModelRun.of(parameters, NetworkNamespaces.of(hub, parameters.members())).isEmpty();
    } else {
      right = inNetworks(parameters, true);
    }
    ended = true;
    System.exit(right ? 0 : 1);
  }

  /** Has a run that is ended from outside leave nothing: no process, no network, no mount. */
  private static void endOnRequest(Thread run) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  if (!ended) {
                    // Also those that are stopped, which no signal but this one ends.
                    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
                    run.interrupt();
                    try {
                      run.join(END_MILLIS);
                    } catch (InterruptedException e) {
                      // The JVM ends anyway.
                    }
                  }
                },
                "end"));
  }

  /** Does a run whose processes can be cut off; true when nothing was wrong. */
  static boolean inNetworks(ModelRun.Parameters parameters, boolean show) throws Exception {
    try (NetworkNamespaces networks = NetworkNamespaces.create(parameters.members())) {
      String[] words = (parameters.command() + " --hub " + networks.prefix()).split(" ");
      String[] arguments = List.of(words).subList(1, words.length).toArray(new String[0]);
      try (CrailProcess run =
          CrailProcess.program(networks.inHub(), ModelProgram.class, arguments)) {
        Duration longest = Duration.ofSeconds(parameters.seconds()).plusMinutes(10);
        int code = run.awaitExit(longest);
        if (show || code != 0) {
          System.out.print(run.stdout());
          System.err.print(run.stderr());
        }
        return code == 0;
      }
    }
  }

  private static ModelRun.Parameters parameters(Map<String, String> options) {
    return new ModelRun.Parameters(
        number(options, "--seed", System.nanoTime()),
        (int) number(options, "--seconds", TimeUnit.MINUTES.toSeconds(60)),
        Boolean.parseBoolean(take(options, "--mapped", "true")),
        (int) number(options, "--namenodes", 1),
        (int) number(options, "--datanodes", 2),
        (int) number(options, "--clients", 3),
        (int) number(options, "--threads", 3),
        (int) number(options, "--mebibytes", 48),
        (int) number(options, "--longest-fault", 12_000),
        Boolean.parseBoolean(take(options, "--fill", "false")),
        Boolean.parseBoolean(take(options, "--network", "false")),
        ModelRun.Kept.of(take(options, "--durable", "false")),
        Boolean.parseBoolean(take(options, "--keep", "false")),
        (int) number(options, "--standbys", 0));
  }

  private static String take(Map<String, String> options, String name, String unset) {
    String value = options.remove(name);
    return value == null ? unset : value;
  }

  private static long number(Map<String, String> options, String name, long unset) {
    return Long.parseLong(take(options, name, String.valueOf(unset)));
  }
}
