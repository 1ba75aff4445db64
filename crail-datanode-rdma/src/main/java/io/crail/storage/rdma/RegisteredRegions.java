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
 * A datanode's regions as its device knows them, each under a key, and their descriptions for
 * clients. Used by the datanode's thread and the listener's.
 */
final class RegisteredRegions {
  private static final int MOST_REPEATED_KEYS = 16;
  private static final int ACCESS =
      Layouts.ACCESS_LOCAL_WRITE | Layouts.ACCESS_REMOTE_READ | Layouts.ACCESS_REMOTE_WRITE;

  /** By region; null between {@link #take} and {@link #give}, and when the device was removed. */
  private final List<RegisteredMemory> registrations = new ArrayList<>();

  /** The keys that regions once had. No region gets one again, since a client may remember it. */
  private final Set<Integer> spentKeys = new HashSet<>();

  private volatile List<Region> announced = List.of();
  private volatile String failure;

  /** Registers all regions whole. */
  synchronized void register(RdmaDevice device, List<RegionMemory> regions) throws IOException {
    List<Region> announcing = new ArrayList<>();
    for (RegionMemory region : regions) {
      RegisteredMemory registered = device.register(region.data(), ACCESS);
      registrations.add(registered);
      announcing.add(announce(region, registered));
    }
    announced = List.copyOf(announcing);
  }

  private static Region announce(RegionMemory region, RegisteredMemory registered) {
    return new Region(
        region.index(),
        region.length(),
        registered.address(),
        Integer.toUnsignedLong(registered.rkey()));
  }

  /** The regions as they are announced to clients, by index. */
  List<Region> announced() {
    return announced;
  }

  /** True while the device gives access to a region. */
  synchronized boolean isRegistered(int region) {
    return registrations.get(region) != null;
  }

  /** Deregisters regions. Their keys are never used again. No access may be under way. */
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
   * Registers a region again that was taken, under another key.
   *
   * @return the region as it is announced to clients from now on
   */
  synchronized Region give(RdmaDevice device, RegionMemory region) throws IOException {
    if (failure != null) {
      throw new IOException(failure);
    }
    RegisteredMemory fresh = registerUnderNewKey(device, region);
    registrations.set(region.index(), fresh);
    List<Region> announcing = new ArrayList<>(announced);
    announcing.set(region.index(), announce(region, fresh));
    announced = List.copyOf(announcing);
    return announcing.get(region.index());
  }

  /**
   * Registers a region under a key that was never used. Devices count keys up within few bits, so a
   * spent key may come again.
   */
  private RegisteredMemory registerUnderNewKey(RdmaDevice device, RegionMemory region)
      throws IOException {
    // Registrations with spent keys stay until a new key comes, since the device gives different
    // keys to registrations that exist at the same time. Each counts as locked memory, so a process
    // whose limit is little more than one registration may fail here.
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

  /** Why the regions cannot be lent any more; null while they can. */
  String failure() {
    return failure;
  }

  /** Notes that the regions cannot be lent any more. */
  void fail(String why) {
    failure = why;
  }

  /** Deregisters all regions. */
  synchronized void release() {
    for (int region = 0; region < registrations.size(); region++) {
      if (registrations.get(region) != null) {
        registrations.set(region, null).close();
      }
    }
  }

  /** Deregisters all regions, and forgets them. */
  synchronized void close() {
    release();
    registrations.clear();
    announced = List.of();
  }
}
