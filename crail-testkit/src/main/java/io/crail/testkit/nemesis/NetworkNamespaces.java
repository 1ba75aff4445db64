/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Private networks of a test. Each member lives in a network namespace with one cable to a hub,
 * which forwards between the members. Pulling a cable cuts a member off. The networks do not touch
 * the host's network. Needs root.
 */
public final class NetworkNamespaces implements AutoCloseable {
  private final String prefix;
  private final int members;
  private final List<String> made = new ArrayList<>();

  private NetworkNamespaces(String prefix, int members) {
    this.prefix = prefix;
    this.members = members;
  }

  /** Why they are unavailable here; empty when they are available. */
  public static String unavailable() {
    try (NetworkNamespaces one = create(1)) {
      return one.members == 1 ? "" : "no members";
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  /** Creates {@code members} namespaces, all connected. */
  public static NetworkNamespaces create(int members) throws IOException {
    String prefix = "crail" + ProcessHandle.current().pid() + "n" + (System.nanoTime() & 0xffff);
    NetworkNamespaces all = new NetworkNamespaces(prefix, members);
    boolean complete = false;
    try {
      all.make();
      complete = true;
      return all;
    } finally {
      if (!complete) {
        all.close();
      }
    }
  }

  /** The namespaces of another process, which removes them. */
  public static NetworkNamespaces of(String prefix, int members) {
    return new NetworkNamespaces(prefix, members);
  }

  /** The name by which another process can use them. */
  public String prefix() {
    return prefix;
  }

  private void make() throws IOException {
    add(hub());
    SystemProgram.run("ip", "-n", hub(), "link", "set", "lo", "up");
    SystemProgram.run("ip", "netns", "exec", hub(), "sysctl", "-qw", "net.ipv4.ip_forward=1");
    for (int i = 0; i < members; i++) {
      String name = name(i);
      add(name);
      SystemProgram.run(
          "ip", "-n", hub(), "link", "add", "m" + i, "type", "veth", "peer", "name", "v0", "netns",
          name);
      SystemProgram.run("ip", "-n", hub(), "addr", "add", "10.77." + i + ".1/24", "dev", "m" + i);
      SystemProgram.run("ip", "-n", name, "addr", "add", address(i) + "/24", "dev", "v0");
      SystemProgram.run("ip", "-n", hub(), "link", "set", "m" + i, "up");
      SystemProgram.run("ip", "-n", name, "link", "set", "lo", "up");
      SystemProgram.run("ip", "-n", name, "link", "set", "v0", "up");
      SystemProgram.run("ip", "-n", name, "route", "add", "default", "via", "10.77." + i + ".1");
    }
  }

  private void add(String name) throws IOException {
    SystemProgram.run("ip", "netns", "add", name);
    made.add(name);
  }

  private String hub() {
    return prefix + "hub";
  }

  private String name(int member) {
    return prefix + "m" + member;
  }

  /** The address of a member. */
  public String address(int member) {
    return "10.77." + member + ".2";
  }

  /** The words before a command that has to reach all members. */
  public List<String> inHub() {
    return List.of("ip", "netns", "exec", hub());
  }

  /** The words before a command that runs as a member. The process then becomes the command. */
  public List<String> in(int member) {
    return List.of("ip", "netns", "exec", name(member));
  }

  /** Pulls a member's cable. */
  public void cut(int member) throws IOException {
    SystemProgram.run("ip", "-n", hub(), "link", "set", "m" + member, "down");
  }

  /** Connects a member's cable again. */
  public void heal(int member) throws IOException {
    SystemProgram.run("ip", "-n", hub(), "link", "set", "m" + member, "up");
  }

  /** Lets nothing pass from a member to another one. What the other one sends arrives. */
  public void mute(int member, int other) throws IOException {
    SystemProgram.run("ip", "-n", name(member), "route", "add", "blackhole", net(other));
  }

  /** Lets all pass again from a member to another one. */
  public void unmute(int member, int other) throws IOException {
    SystemProgram.run("ip", "-n", name(member), "route", "del", "blackhole", net(other));
  }

  private static String net(int member) {
    return "10.77." + member + ".0/24";
  }

  /** Removes the namespaces. Their processes should have ended. */
  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (String name : made) {
      try {
        SystemProgram.run("ip", "netns", "del", name);
      } catch (IOException e) {
        failure = e;
      }
    }
    made.clear();
    if (failure != null) {
      throw failure;
    }
  }
}
