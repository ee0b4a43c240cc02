/**
 * One line of explanation for the thing under the pointer or under the focus. The text is also its accessible description. A tip never
 * takes the pointer, and Escape puts it away.
 */
import type { Attachment } from 'svelte/attachments';

interface ShownTip {
  text: string;
  x: number;
  y: number;
  above: boolean;
}

class Tips {
  shown = $state.raw<ShownTip | null>(null);
  #owner: Element | null = null;

  show(owner: Element, text: string): void {
    const box = owner.getBoundingClientRect();
    const roomBelow = document.documentElement.clientHeight - box.bottom;
    const above = roomBelow < 120 && box.top > roomBelow;
    this.#owner = owner;
    this.shown = { text, x: box.left + box.width / 2, y: above ? box.top - 6 : box.bottom + 6, above };
  }

  /** At a point of the owner, for charts. */
  showAt(owner: Element, text: string, x: number, y: number): void {
    this.#owner = owner;
    const above = y > document.documentElement.clientHeight - 140;
    this.shown = { text, x, y: above ? y - 14 : y + 18, above };
  }

  hide(owner?: Element): void {
    if (owner && owner !== this.#owner) return;
    this.#owner = null;
    this.shown = null;
  }

  isOwnedBy(owner: Element): boolean {
    return this.#owner === owner;
  }
}

export const tips = new Tips();

export function tip(text: string): Attachment<HTMLElement> {
  return (element) => {
    element.setAttribute('aria-description', text);
    if (tips.isOwnedBy(element)) tips.show(element, text);
    const show = () => tips.show(element, text);
    const hide = () => {
      if (!element.matches(':focus-visible, :hover')) tips.hide(element);
    };
    const focus = () => {
      if (element.matches(':focus-visible')) show();
    };
    const leave = () => tips.hide(element);
    element.addEventListener('pointerenter', show);
    element.addEventListener('pointerleave', hide);
    element.addEventListener('focus', focus);
    element.addEventListener('blur', leave);
    return () => {
      element.removeEventListener('pointerenter', show);
      element.removeEventListener('pointerleave', hide);
      element.removeEventListener('focus', focus);
      element.removeEventListener('blur', leave);
      if (!element.isConnected) tips.hide(element);
    };
  };
}
