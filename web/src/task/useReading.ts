import { useEffect, useState, type RefObject } from 'react';

/**
 * Whether somebody reads what is in the element: the mouse is over it, the
 * focus is in it, or it was scrolled. What is read must not move. With a
 * release, all counts as read and looked away from.
 */
export function useReading(element: RefObject<HTMLElement | null>, scroller?: RefObject<HTMLElement | null>): [boolean, () => void] {
  const [reading, setReading] = useState(false);
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    const scrolled = scroller?.current ?? window;
    let over = false;
    const look = () => {
      const top = scroller?.current ? scroller.current.scrollTop : window.scrollY;
      setReading(over || top > 40 || box.contains(document.activeElement));
    };
    const enter = (event: PointerEvent) => {
      over = event.pointerType === 'mouse';
      look();
    };
    const leave = () => {
      over = false;
      look();
    };
    // A menu or a dialog over the page takes the focus; what it is about stays.
    const focus = () => queueMicrotask(look);
    box.addEventListener('pointerenter', enter);
    box.addEventListener('pointerleave', leave);
    box.addEventListener('focusin', focus);
    box.addEventListener('focusout', focus);
    scrolled.addEventListener('scroll', look, { passive: true });
    return () => {
      box.removeEventListener('pointerenter', enter);
      box.removeEventListener('pointerleave', leave);
      box.removeEventListener('focusin', focus);
      box.removeEventListener('focusout', focus);
      scrolled.removeEventListener('scroll', look);
    };
  }, [element, scroller]);
  return [reading, () => setReading(false)];
}
