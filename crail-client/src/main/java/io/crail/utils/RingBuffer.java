/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.utils;

import java.util.ArrayDeque;

/**
 * A queue with room for a fixed number of elements. Not thread-safe.
 *
 * @param <T> an element, never null
 */
public class RingBuffer<T> {
  private final ArrayDeque<T> elements;
  private final int capacity;

  /**
   * Creates an empty queue.
   *
   * @param capacity the most elements
   */
  public RingBuffer(int capacity) {
    this.capacity = capacity;
    this.elements = new ArrayDeque<>(capacity);
  }

  /**
   * Adds an element at the end.
   *
   * @param element the element
   * @return false when there is no room
   */
  public boolean add(T element) {
    return elements.size() < capacity && elements.add(element);
  }

  /** {@return the first element, which is removed; null when there is none} */
  public T poll() {
    return elements.poll();
  }

  /** {@return the first element; null when there is none} */
  public T peek() {
    return elements.peek();
  }

  /** {@return the most elements} */
  public int capacity() {
    return capacity;
  }

  /** {@return the number of elements} */
  public int size() {
    return elements.size();
  }

  /** {@return true when there is no element} */
  public boolean isEmpty() {
    return elements.isEmpty();
  }

  /** {@return the number of elements for which there is room} */
  public int remaining() {
    return capacity - elements.size();
  }

  /** Removes all elements. */
  public void clear() {
    elements.clear();
  }
}
