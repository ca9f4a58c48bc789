import { useEffect, useState, type RefObject } from 'react';

/** Returns how far down the page an element begins, and follows its changes. */
export function useOffset(element: RefObject<HTMLElement | null>, isRendered: boolean): number {
  const [offset, setOffset] = useState(0);
  useEffect(() => {
    if (!isRendered) return;
    const measure = () => {
      const box = element.current?.getBoundingClientRect();
      if (box) setOffset(Math.round(box.top + window.scrollY));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(document.body);
    return () => watch.disconnect();
  }, [element, isRendered]);
  return offset;
}
