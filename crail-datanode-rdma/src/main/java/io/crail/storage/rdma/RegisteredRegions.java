/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.protocol.part.Region;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.storage.region.RegionMemory;
import io.crail.verbs.Layouts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A datanode's regions as its device knows them, each under a key, and what is told of them to
 * clients. Used by the datanode's thread and the listener's.
 */
final class RegisteredRegions {
  private static final int MOST_REPEATED_KEYS = 16;
  private static final int ACCESS =
      Layouts.ACCESS_LOCAL_WRITE | Layouts.ACCESS_REMOTE_READ | Layouts.ACCESS_REMOTE_WRITE;

  /** By region; null between a taking and a giving, and when the device was removed. */
  private final List<RegisteredMemory> registrations = new ArrayList<>();

  /** The keys that regions once had, so that none gets one again that somebody may remember. */
  private final Set<Integer> spentKeys = new HashSet<>();

  private volatile List<Region> announced = List.of();
  private volatile String failure;

  /** Registers all regions whole. */
  synchronized void register(RdmaDevice device, List<RegionMemory> regions) throws IOException {
    List<Region> told = new ArrayList<>();
    for (RegionMemory region : regions) {
      RegisteredMemory registered = device.register(region.data(), ACCESS);
      registrations.add(registered);
      told.add(announce(region, registered));
    }
    announced = List.copyOf(told);
  }

  private static Region announce(RegionMemory region, RegisteredMemory registered) {
    return new Region(
        region.index(),
        region.length(),
        registered.address(),
        Integer.toUnsignedLong(registered.rkey()));
  }

  /** What clients are told, by region. */
  List<Region> announced() {
    return announced;
  }

  /** True while the device gives access to a region. */
  synchronized boolean isRegistered(int region) {
    return registrations.get(region) != null;
  }

  /**
   * Takes regions from the device; their keys are never given again. No access may be under way.
   */
  synchronized void take(List<Integer> regions) {
    for (int region : regions) {
      RegisteredMemory old = registrations.set(region, null);
      if (old != null) {
        spentKeys.add(old.rkey());
        old.close();
      }
    }
  }

  /**
   * Gives a region that was taken to the device again, under another key.
   *
   * @return what clients are told of it from now on
   */
  synchronized Region give(RdmaDevice device, RegionMemory region) throws IOException {
    if (failure != null) {
      throw new IOException(failure);
    }
    RegisteredMemory fresh = registerUnderNewKey(device, region);
    registrations.set(region.index(), fresh);
    List<Region> told = new ArrayList<>(announced);
    told.set(region.index(), announce(region, fresh));
    announced = List.copyOf(told);
    return told.get(region.index());
  }

  /** Devices count keys up within few bits, so one may come again that was spent. */
  private RegisteredMemory registerUnderNewKey(RdmaDevice device, RegionMemory region)
      throws IOException {
    // They stay until there is another, for the device gives two at a time different keys. Each
    // counts as locked memory, so a process with leave for little more than once may fail here.
    List<RegisteredMemory> repeated = new ArrayList<>();
    try {
      while (repeated.size() < MOST_REPEATED_KEYS) {
        RegisteredMemory fresh = device.register(region.data(), ACCESS);
        if (!spentKeys.contains(fresh.rkey())) {
          return fresh;
        }
        repeated.add(fresh);
      }
      throw new IOException(device + " gives only keys that were used before");
    } finally {
      repeated.forEach(RegisteredMemory::close);
    }
  }

  /** Why the regions can be lent no more; null while they can. */
  String failure() {
    return failure;
  }

  /** Notes that the regions can be lent no more. */
  void fail(String why) {
    failure = why;
  }

  /** Takes all regions from the device. */
  synchronized void release() {
    for (int region = 0; region < registrations.size(); region++) {
      if (registrations.get(region) != null) {
        registrations.set(region, null).close();
      }
    }
  }

  /** Takes all regions from the device, and forgets them. */
  synchronized void close() {
    release();
    registrations.clear();
    announced = List.of();
  }
}
