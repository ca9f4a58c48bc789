import { useEffect, useState, type RefObject } from 'react';

/** How far the content may be scrolled before it counts as read, in pixels. */
const maxIdleScroll = 40;

/**
 * Reports whether the reader reads the content of the element: the mouse is
 * over it, the focus is in it, or it was scrolled. Such content must not move.
 * The returned function ends this, as if the reader had looked away.
 * The page scrolls the content, unless `scrollsItself` says that the element does.
 */
export function useIsBeingRead(element: RefObject<HTMLElement | null>, { scrollsItself = false } = {}): [boolean, () => void] {
  const [isBeingRead, setIsBeingRead] = useState(false);
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    const listeners = new AbortController();
    const { signal } = listeners;
    let isMouseOver = false;
    const update = () => {
      const scroll = scrollsItself ? box.scrollTop : window.scrollY;
      setIsBeingRead(isMouseOver || scroll > maxIdleScroll || box.contains(document.activeElement));
    };
    const setMouseOver = (isOver: boolean) => {
      isMouseOver = isOver;
      update();
    };
    // During focusout, the next element does not have the focus yet, so the check runs after the event.
    const updateAfterEvent = () => queueMicrotask(update);
    box.addEventListener('pointerenter', (event) => setMouseOver(event.pointerType === 'mouse'), { signal });
    box.addEventListener('pointerleave', () => setMouseOver(false), { signal });
    box.addEventListener('focusin', updateAfterEvent, { signal });
    box.addEventListener('focusout', updateAfterEvent, { signal });
    (scrollsItself ? box : window).addEventListener('scroll', update, { passive: true, signal });
    return () => listeners.abort();
  }, [element, scrollsItself]);
  return [isBeingRead, () => setIsBeingRead(false)];
}
