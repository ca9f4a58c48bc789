import { useEffect, useState } from 'react';

/** Returns true some time after the first paint. Use it for parts that the first page does not need. */
export function useLater(ms: number): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return later;
}
