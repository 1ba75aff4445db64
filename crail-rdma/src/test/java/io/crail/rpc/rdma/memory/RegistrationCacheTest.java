/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.LimitExceededException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RegistrationCacheTest {
  private static final int PAGE = 4096;

  /** Memory at made-up addresses. */
  private static final class FakeRegistrar implements RegistrationCache.Registrar {
    private final Map<ByteBuffer, Long> addresses = new IdentityHashMap<>();
    private long next = 1 << 20;
    private long lockableBytes = Long.MAX_VALUE;
    private long lockedBytes;
    private int registrations;
    private int keys;
    private boolean lastWritable;

    ByteBuffer allocate(int length) {
      ByteBuffer memory = ByteBuffer.allocateDirect(length);
      place(memory, next);
      next += length;
      return memory;
    }

    void place(ByteBuffer memory, long address) {
      addresses.put(memory, address);
    }

    @Override
    public long address(ByteBuffer memory) {
      return addresses.get(memory);
    }

    @Override
    public RegistrationCache.Registered register(long address, long length, boolean writable)
        throws IOException {
      if (lockedBytes + length > lockableBytes) {
        throw new IOException("no memory to lock");
      }
      if (address == 0) {
        throw new IOException("bad address");
      }
      lockedBytes += length;
      registrations++;
      lastWritable = writable;
      int key = ++keys;
      return new RegistrationCache.Registered() {
        private boolean closed;

        @Override
        public int lkey() {
          return key;
        }

        @Override
        public int rkey() {
          return -key;
        }

        @Override
        public void close() {
          assertFalse(closed, "closed twice");
          closed = true;
          lockedBytes -= length;
          registrations--;
        }
      };
    }

    @Override
    public boolean isShortage(IOException failure) {
      return failure.getMessage().equals("no memory to lock");
    }
  }

  private final FakeRegistrar registrar = new FakeRegistrar();
  private final RegistrationCache cache = new RegistrationCache(registrar, 10 * PAGE, "test.limit");

  @AfterEach
  void nothingIsLeft() {
    cache.close();
    assertEquals(0, registrar.registrations);
    assertEquals(0, registrar.lockedBytes);
  }

  private RegistrationCache.Registration register(ByteBuffer memory) throws IOException {
    return cache.register(memory, registrar.address(memory), memory.capacity());
  }

  private int use(ByteBuffer memory) throws IOException {
    RegistrationCache.Registration registration = cache.find(memory);
    if (registration == null) {
      registration = register(memory);
    }
    int key = registration.lkey();
    cache.release(registration);
    return key;
  }

  private boolean isKnown(ByteBuffer memory) {
    RegistrationCache.Registration found = cache.find(memory);
    if (found != null) {
      cache.release(found);
    }
    return found != null;
  }

  @Test
  void memoryIsRegisteredOnceAndWhole() throws IOException {
    ByteBuffer memory = registrar.allocate(4 * PAGE);
    assertFalse(isKnown(memory));
    RegistrationCache.Registration first =
        cache.register(memory, registrar.address(memory) + PAGE, 10);
    assertTrue(first.covers(registrar.address(memory), 4 * PAGE));
    RegistrationCache.Registration second = cache.find(memory);
    assertSame(first, second);
    cache.release(first);
    cache.release(second);
    assertEquals(first.lkey(), use(memory));
    assertEquals(1, registrar.registrations);
    assertTrue(registrar.lastWritable);
  }

  @Test
  void coversOnlyWhatIsWithin() throws IOException {
    ByteBuffer memory = registrar.allocate(PAGE);
    RegistrationCache.Registration registration = register(memory);
    long address = registrar.address(memory);
    assertTrue(registration.covers(address, PAGE));
    assertTrue(registration.covers(address + PAGE - 1, 1));
    assertFalse(registration.covers(address - 1, 1));
    assertFalse(registration.covers(address + 1, PAGE));
    assertFalse(registration.covers(address + PAGE, 1));
    cache.release(registration);
  }

  @Test
  void anotherBufferAtTheSameAddressIsAnotherMemory() throws IOException {
    ByteBuffer gone = registrar.allocate(PAGE);
    int key = use(gone);
    ByteBuffer young = ByteBuffer.allocateDirect(PAGE);
    registrar.place(young, registrar.address(gone));
    assertFalse(isKnown(young));
    assertNotEquals(key, use(young));
  }

  @Test
  void releasesUnreachableMemory() throws Exception {
    registrar.addresses.clear();
    registerAndForget();
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (registrar.registrations > 0 && System.nanoTime() - deadline < 0) {
      System.gc();
      cache.releaseCollected();
      Thread.sleep(5);
    }
    assertEquals(0, registrar.registrations);
    assertEquals(0, cache.bytes());
  }

  private void registerAndForget() throws IOException {
    for (int i = 0; i < 5; i++) {
      use(registrar.allocate(PAGE));
    }
    assertEquals(5, registrar.registrations);
    registrar.addresses.clear();
  }

  @Test
  void theLeastRecentlyUsedMakesRoom() throws IOException {
    ByteBuffer[] memory = new ByteBuffer[6];
    for (int i = 0; i < 5; i++) {
      memory[i] = registrar.allocate(2 * PAGE);
      use(memory[i]);
    }
    use(memory[0]);
    memory[5] = registrar.allocate(2 * PAGE);
    use(memory[5]);
    assertFalse(isKnown(memory[1]));
    for (int kept : new int[] {0, 2, 3, 4, 5}) {
      assertTrue(isKnown(memory[kept]), "memory " + kept);
    }
    assertEquals(10 * PAGE, cache.bytes());
  }

  @Test
  void registrationsInUseStay() throws IOException {
    ByteBuffer used = registrar.allocate(6 * PAGE);
    ByteBuffer idle = registrar.allocate(2 * PAGE);
    RegistrationCache.Registration inUse = register(used);
    use(idle);
    ByteBuffer large = registrar.allocate(9 * PAGE);
    // There is no room for all of it, but for the part that is needed.
    RegistrationCache.Registration part = cache.register(large, registrar.address(large), PAGE);
    assertEquals(9 * PAGE, cache.bytes());
    assertFalse(isKnown(large), "a part must not be found as if it were all");
    assertTrue(isKnown(idle), "nothing has to go for what does not fit anyway");
    assertNull(cache.register(large, registrar.address(large), 4 * PAGE));
    cache.release(part);
    assertEquals(8 * PAGE, cache.bytes());
    cache.release(inUse);
    cache.release(register(large));
    assertEquals(9 * PAGE, cache.bytes());
    assertTrue(isKnown(large));
  }

  @Test
  void memoryAboveTheLimitIsRegisteredInParts() throws IOException {
    ByteBuffer memory = registrar.allocate(11 * PAGE);
    long address = registrar.address(memory) + 10 * PAGE;
    RegistrationCache.Registration part = cache.register(memory, address, PAGE);
    assertTrue(part.covers(address, PAGE) && !part.covers(address - 1, PAGE));
    cache.release(part);
    assertEquals(0, registrar.registrations);
    LimitExceededException refusal =
        assertThrows(LimitExceededException.class, () -> register(memory));
    assertTrue(refusal.getMessage().contains("test.limit"), refusal.getMessage());
  }

  @Test
  void aRangeOutsideOfItsMemoryIsRegisteredForItself() throws IOException {
    ByteBuffer memory = registrar.allocate(PAGE);
    RegistrationCache.Registration other = cache.register(memory, 77 * PAGE, 10);
    assertTrue(other.covers(77 * PAGE, 10));
    assertFalse(isKnown(memory));
    cache.release(other);
  }

  @Test
  void aShortageReleasesWhatIsIdle() throws IOException {
    registrar.lockableBytes = 4 * PAGE;
    ByteBuffer first = registrar.allocate(2 * PAGE);
    ByteBuffer second = registrar.allocate(2 * PAGE);
    use(first);
    use(second);
    ByteBuffer third = registrar.allocate(3 * PAGE);
    use(third);
    assertEquals(3 * PAGE, registrar.lockedBytes);
    ByteBuffer fourth = registrar.allocate(5 * PAGE);
    RegistrationCache.Registration part =
        cache.register(fourth, registrar.address(fourth), 4 * PAGE);
    ByteBuffer fifth = registrar.allocate(PAGE);
    // There will be room when what is in use is given back.
    assertNull(register(fifth));
    cache.release(part);
    use(fifth);
    ByteBuffer sixth = registrar.allocate(5 * PAGE);
    assertThrows(IOException.class, () -> register(sixth));
  }

  @Test
  void otherErrorsReleaseNothing() throws IOException {
    ByteBuffer good = registrar.allocate(PAGE);
    use(good);
    ByteBuffer bad = registrar.allocate(PAGE);
    registrar.place(bad, 0);
    assertThrows(IOException.class, () -> register(bad));
    assertEquals(1, registrar.registrations);
  }

  @Test
  void readOnlyMemoryIsNotRegisteredForWriting() throws IOException {
    ByteBuffer memory = ByteBuffer.allocateDirect(PAGE).asReadOnlyBuffer();
    registrar.place(memory, 5 * PAGE);
    use(memory);
    assertFalse(registrar.lastWritable);
  }

  @Test
  void closingFailsWhileSomethingIsInUse() throws IOException {
    RegistrationCache.Registration inUse = register(registrar.allocate(PAGE));
    assertThrows(IllegalStateException.class, cache::close);
    cache.release(inUse);
  }

  @Test
  void manyBuffersAtRandom() throws IOException {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    RegistrationCache large = new RegistrationCache(registrar, 300 * PAGE, "test.limit");
    List<ByteBuffer> buffers = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      buffers.add(registrar.allocate(PAGE));
    }
    List<RegistrationCache.Registration> inUse = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      if (inUse.size() > 200 || random.nextBoolean() && !inUse.isEmpty()) {
        large.release(inUse.remove(random.nextInt(inUse.size())));
        continue;
      }
      ByteBuffer memory = buffers.get(random.nextInt(buffers.size()));
      RegistrationCache.Registration found = large.find(memory);
      if (found == null) {
        found = large.register(memory, registrar.address(memory), PAGE);
      }
      assertTrue(found.covers(registrar.address(memory), PAGE));
      inUse.add(found);
      assertEquals(registrar.lockedBytes, large.bytes());
      assertTrue(large.bytes() <= 300 * PAGE);
    }
    inUse.forEach(large::release);
    large.close();
  }
}
