import { useEffect, useState, type RefObject } from 'react';

/**
 * Reports whether the reader reads the content of the element: the mouse is
 * over it, the focus is in it, or it was scrolled. Such content must not move.
 * The returned function ends this, as if the reader had looked away.
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
    // During focusout, the next element does not have the focus yet, so the check runs after the event.
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
