/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma.memory;

import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * The users' memory that is registered with one device. Registering costs as much as many
 * transfers. So memory stays registered after a transfer, until room is needed or nothing refers to
 * the memory any more.
 *
 * <p>Memory is recognized by the identity of its buffer, never by its address. A new buffer may lie
 * at the address of a freed one, on other pages. A device that used the old registration would
 * write into pages that are not read.
 *
 * <p>Used by one thread at a time. Finding known memory takes no lock and allocates nothing.
 */
public final class RegistrationCache implements AutoCloseable {
  /** Registers memory. */
  interface Registrar {
    /** The address of a direct buffer's first byte. */
    long address(ByteBuffer memory);

    /**
     * Registers memory.
     *
     * @param writable whether the device may write into it
     * @throws IOException with a message for people
     */
    Registered register(long address, long lengthBytes, boolean writable) throws IOException;

    /** Whether a registration failed because too much is registered already. */
    boolean isShortage(IOException failure);
  }

  /** Memory that a registrar has registered. */
  interface Registered {
    /** The key for local use. */
    int lkey();

    /** The key for peers, if they may use the memory. */
    int rkey();

    /** Ends the registration. */
    void close();
  }

  /** Registered memory. It is in use after it was handed out and until it is given back. */
  public static final class Registration extends WeakReference<ByteBuffer> {
    private final int hash;
    private final long address;
    private final long length;
    private final Registered registered;
    private int uses = 1;

    /** Whether {@link #find} may find it. */
    private boolean kept;

    private Registration nextInBucket;

    // Neighbours among the registrations that are not in use, by the time of their last use.
    private Registration older;
    private Registration newer;

    Registration(
        ByteBuffer memory,
        ReferenceQueue<ByteBuffer> collected,
        int hash,
        long address,
        long length,
        Registered registered) {
      super(memory, collected);
      this.hash = hash;
      this.address = address;
      this.length = length;
      this.registered = registered;
    }

    /** The key for requests. */
    public int lkey() {
      return registered.lkey();
    }

    /** The key that peers need. */
    public int rkey() {
      return registered.rkey();
    }

    /** True when a range is within this memory. */
    public boolean covers(long rangeAddress, int rangeLength) {
      return rangeAddress >= address && rangeAddress - address <= length - rangeLength;
    }
  }

  private final Registrar registrar;
  private final long limitBytes;
  private final String limitName;
  private final ReferenceQueue<ByteBuffer> collected = new ReferenceQueue<>();
  private Registration[] buckets = new Registration[64];
  private int kept;
  private long bytes;
  private long idleBytes;
  private Registration oldest;
  private Registration newest;

  /**
   * Creates an empty cache.
   *
   * @param limitBytes most bytes that are registered
   * @param limitName the key of that limit, for messages
   */
  RegistrationCache(Registrar registrar, long limitBytes, String limitName) {
    this.registrar = registrar;
    this.limitBytes = limitBytes;
    this.limitName = limitName;
  }

  /** Bytes that are registered now. */
  long bytes() {
    return bytes;
  }

  /** The registration of known memory, in use now; null when the memory is not known. */
  public Registration find(ByteBuffer memory) {
    Registration each = buckets[System.identityHashCode(memory) & buckets.length - 1];
    while (each != null && !each.refersTo(memory)) {
      each = each.nextInBucket;
    }
    if (each != null && each.uses++ == 0) {
      unlink(each);
    }
    return each;
  }

  /**
   * Registers memory that is not known: all of it if there is room, else only the range that is
   * needed now.
   *
   * @param memory the memory that the range was cut from
   * @param address the first byte that is needed
   * @param length bytes that are needed
   * @return the registration, in use now; null when there is no room before other registrations are
   *     given back
   * @throws IOException when the memory cannot be registered; its message is for people
   */
  public Registration register(ByteBuffer memory, long address, int length) throws IOException {
    releaseCollected();
    if (length > limitBytes) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          length + " bytes cannot be registered, for " + limitName + " is " + limitBytes);
    }
    long start = registrar.address(memory);
    boolean within = address >= start && address - start <= (long) memory.capacity() - length;
    if (within && memory.capacity() <= limitBytes) {
      try {
        Registration whole = register(memory, start, memory.capacity(), true);
        if (whole != null) {
          return whole;
        }
      } catch (IOException e) {
        if (!registrar.isShortage(e) || memory.capacity() == length) {
          throw e;
        }
      }
    }
    return register(memory, address, length, false);
  }

  private Registration register(ByteBuffer memory, long address, int length, boolean keep)
      throws IOException {
    if (bytes - idleBytes + length > limitBytes) {
      return null;
    }
    while (bytes + length > limitBytes) {
      releaseOldest();
    }
    Registered registered = tryRegister(address, length, !memory.isReadOnly());
    if (registered == null) {
      return null;
    }
    int hash = System.identityHashCode(memory);
    Registration registration =
        new Registration(memory, keep ? collected : null, hash, address, length, registered);
    bytes += length;
    if (keep) {
      put(registration);
    }
    return registration;
  }

  /** Null when too much is registered now. Some of it is in use and will be given back. */
  private Registered tryRegister(long address, int length, boolean writable) throws IOException {
    while (true) {
      try {
        return registrar.register(address, length, writable);
      } catch (IOException e) {
        if (!registrar.isShortage(e)) {
          throw e;
        }
        if (!releaseOldest()) {
          if (bytes > 0) {
            return null;
          }
          throw e;
        }
      }
    }
  }

  /** Gives a registration back. */
  public void release(Registration registration) {
    if (--registration.uses > 0) {
      return;
    }
    if (registration.kept) {
      linkNewest(registration);
    } else {
      end(registration);
    }
  }

  /** Ends the registrations of memory that nothing refers to any more. */
  void releaseCollected() {
    for (Reference<?> each = collected.poll(); each != null; each = collected.poll()) {
      Registration registration = (Registration) each;
      if (registration.kept) {
        drop(registration);
      }
    }
  }

  /** Ends the registration that has been unused for the longest time; false when all are in use. */
  private boolean releaseOldest() {
    if (oldest == null) {
      return false;
    }
    drop(oldest);
    return true;
  }

  /** Makes a registration impossible to find, and ends it unless it is in use. */
  private void drop(Registration registration) {
    registration.kept = false;
    kept--;
    int index = registration.hash & buckets.length - 1;
    if (buckets[index] == registration) {
      buckets[index] = registration.nextInBucket;
    } else {
      Registration before = buckets[index];
      while (before.nextInBucket != registration) {
        before = before.nextInBucket;
      }
      before.nextInBucket = registration.nextInBucket;
    }
    if (registration.uses == 0) {
      unlink(registration);
      end(registration);
    }
  }

  private void end(Registration registration) {
    bytes -= registration.length;
    registration.registered.close();
  }

  private void put(Registration registration) {
    registration.kept = true;
    if (++kept > buckets.length) {
      Registration[] old = buckets;
      buckets = new Registration[2 * old.length];
      for (Registration first : old) {
        Registration each = first;
        while (each != null) {
          Registration following = each.nextInBucket;
          insert(each);
          each = following;
        }
      }
    }
    insert(registration);
  }

  private void insert(Registration registration) {
    int index = registration.hash & buckets.length - 1;
    registration.nextInBucket = buckets[index];
    buckets[index] = registration;
  }

  private void linkNewest(Registration registration) {
    idleBytes += registration.length;
    registration.older = newest;
    if (newest == null) {
      oldest = registration;
    } else {
      newest.newer = registration;
    }
    newest = registration;
  }

  private void unlink(Registration registration) {
    idleBytes -= registration.length;
    if (registration.older == null) {
      oldest = registration.newer;
    } else {
      registration.older.newer = registration.newer;
    }
    if (registration.newer == null) {
      newest = registration.older;
    } else {
      registration.newer.older = registration.older;
    }
    registration.older = null;
    registration.newer = null;
  }

  /** Ends all registrations. None may be in use any more. */
  @Override
  public void close() {
    while (releaseOldest()) {
      // The condition does the work.
    }
    if (bytes != 0) {
      throw new IllegalStateException(bytes + " bytes of registered memory are still in use");
    }
  }
}
