/**
 * Returns the path to open after a sign-in. A link may contain any address, so
 * an address outside these pages becomes the inbox.
 */
export function safeReturnPath(wanted: string | undefined): string {
  if (!wanted?.startsWith('/') || /[\\\u0000-\u001f]/.test(wanted)) return '/';
  const url = new URL(wanted, location.origin);
  if (url.origin !== location.origin || url.pathname.startsWith('//')) return '/';
  if (url.pathname === '/sign-in' || url.pathname.startsWith('/v1/')) return '/';
  return url.pathname + url.search + url.hash;
}
