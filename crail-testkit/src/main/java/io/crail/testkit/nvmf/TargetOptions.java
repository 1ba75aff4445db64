/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The limits of a target. */
public final class TargetOptions {
  private static final int AUTHENTICATION = 1 << 17;
  private static final int SECURE_CHANNEL = 1 << 18;

  String nqn = "nqn.2026-11.io.crail:test";
  int inCapsule = 8192;
  int maxData = 128 * 1024;
  boolean tellsOfChanges;
  int alignment = 4;
  int transferShift = 5;
  int entries = 128;
  int queues = 4;
  int startUnits = 2;
  long startNanos;
  boolean strayQueues;
  boolean headerDigest = true;
  boolean dataDigest = true;
  boolean splitReads;
  boolean splitWrites;
  String allowedHost = "";
  int spared;
  int keepAliveUnit = 10;
  boolean endsSilentHosts;
  IntUnaryOperator keepAliveTold = IntUnaryOperator.identity();
  String hostSecret = "";
  String controllerSecret = "";
  int asks;
  boolean asksOnIo = true;
  int hash = 1;
  int group;
  boolean shortMessages;
  UnaryOperator<byte[]> edit = UnaryOperator.identity();
  Supplier<byte[]> discovery;

  /** Creates the usual limits. */
  public TargetOptions() {}

  /** The subsystem's name. */
  public TargetOptions nqn(String name) {
    nqn = name;
    return this;
  }

  /** Bytes of data that an I/O command may carry along; a multiple of 16. */
  public TargetOptions inCapsule(int bytes) {
    inCapsule = bytes;
    return this;
  }

  /** The most bytes of one H2CData. */
  public TargetOptions maxData(int bytes) {
    maxData = bytes;
    return this;
  }

  /** Reports a change to each host that wants to know of such events, with each keep-alive. */
  public TargetOptions tellsOfChanges() {
    tellsOfChanges = true;
    return this;
  }

  /** Bytes of which the place of data in a unit is a multiple; a multiple of 4 up to 128. */
  public TargetOptions alignment(int bytes) {
    alignment = bytes;
    return this;
  }

  /** The most bytes of a command's data: 4 KiB times two to the power of this; 0 for no limit. */
  public TargetOptions transferShift(int shift) {
    transferShift = shift;
    return this;
  }

  /** Entries of a queue. */
  public TargetOptions entries(int most) {
    entries = most;
    return this;
  }

  /**
   * How long a controller takes to become ready.
   *
   * @param units how long it may take, as it says itself, in 500 ms
   */
  public TargetOptions starts(int units, int millis) {
    startUnits = units;
    startNanos = millis * 1_000_000L;
    return this;
  }

  /** Connects queues for I/O to another controller than the host has asked for. */
  public TargetOptions strayQueues() {
    strayQueues = true;
    return this;
  }

  /** Whether digests are used if a host asks for them. */
  public TargetOptions digests(boolean header, boolean data) {
    headerDigest = header;
    dataDigest = data;
    return this;
  }

  /** Sends the data of a read in two parts, the completion apart from them. */
  public TargetOptions splitReads() {
    splitReads = true;
    return this;
  }

  /** Reads and writes of the first bytes of a namespace follow no plan, and are never held. */
  public TargetOptions spared(int bytes) {
    spared = bytes;
    return this;
  }

  /** The unit in which it counts keep-alive times, in 100 ms; 0 when it has none. */
  public TargetOptions keepAliveUnit(int unit) {
    keepAliveUnit = unit;
    return this;
  }

  /** Ends the controller of a host that says nothing for one and a half keep-alive times. */
  public TargetOptions endsSilentHosts() {
    endsSilentHosts = true;
    return this;
  }

  /** What it says of its keep-alive time, by the one that a host has asked for; milliseconds. */
  public TargetOptions keepAliveTold(IntUnaryOperator told) {
    keepAliveTold = told;
    return this;
  }

  /**
   * Asks hosts for authentication.
   *
   * @param host the secret that they have to know
   * @param controller the secret by which it proves itself; empty when it cannot
   */
  public TargetOptions secrets(String host, String controller) {
    hostSecret = host;
    controllerSecret = controller;
    asks = AUTHENTICATION;
    return this;
  }

  /** The hash, from 1 to 3, and the group, from 0 to 5, that it chooses. */
  public TargetOptions chooses(int newHash, int newGroup) {
    hash = newHash;
    group = newGroup;
    return this;
  }

  /** Asks for authentication on the admin queue only. */
  public TargetOptions asksOnAdminOnly() {
    asksOnIo = false;
    return this;
  }

  /** Asks for a secure channel too. */
  public TargetOptions asksForSecureChannel() {
    asks = AUTHENTICATION | SECURE_CHANNEL;
    return this;
  }

  /** Sends messages of authentication without zeros behind them. */
  public TargetOptions shortMessages() {
    shortMessages = true;
    return this;
  }

  /** Changes the messages of authentication before they are sent. */
  public TargetOptions edit(UnaryOperator<byte[]> change) {
    edit = change;
    return this;
  }

  /**
   * Makes the target a discovery service too.
   *
   * @param log gives the log anew for each read of a part; see {@link DiscoveryPage}
   */
  public TargetOptions discovery(Supplier<byte[]> log) {
    discovery = log;
    return this;
  }

  /** Asks for the data of a write in parts, one after the other. */
  public TargetOptions splitWrites() {
    splitWrites = true;
    return this;
  }

  /** The only host that may connect. */
  public TargetOptions allowedHost(String name) {
    allowedHost = name;
    return this;
  }
}
