/**
 * Reports whether all numbers in a value are as they were written. JavaScript
 * rounds larger ones in silence, and the server could not notice.
 */
export function hasExactNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value === 'object' && value !== null) return Object.values(value).every(hasExactNumbers);
  return true;
}
