import { useEffect, useState } from 'react';

/** Returns true some time after the first paint. Use it for parts that the first page does not need. */
export function useDelayed(ms: number): boolean {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsOver(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isOver;
}
