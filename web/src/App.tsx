import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { Suspense, useEffect } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { refreshByEvents, retryLive, startLive } from '@/api/live';
import { onSignedIn, queryClient, whoamiQuery } from '@/api/queries';
import { listenForKeys } from '@/keys/listen';
import { router } from '@/routes';
import { useDelayed } from '@/ui/useDelayed';
import { usePreference } from '@/shell/preferences';
import { theme, variables } from '@/shell/theme';
import { useLanguage } from '@/text/language';

const Toasts = lazyComponent(() => import('@/shell/Toasts').then((module) => module.default));

// A style element that the page adds at run time needs the nonce of the reply that carried the page.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

export function App() {
  useEffect(listenForKeys, []);
  useEffect(() => {
    startLive(() => queryClient.getQueryData(whoamiQuery.queryKey) !== undefined);
    const stopRetries = onSignedIn(retryLive);
    const stopRefreshing = refreshByEvents(queryClient);
    return () => {
      stopRetries();
      stopRefreshing();
    };
  }, []);
  const toastsDue = useDelayed(1_500);
  useDocument();
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        {toastsDue && <Suspense><Toasts /></Suspense>}
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Sets the reader's language and preferences on the document, where styles and screen readers find them. */
function useDocument() {
  const language = useLanguage();
  const [contrast] = usePreference('contrast');
  const [motion] = usePreference('motion');
  const [density] = usePreference('density');
  useEffect(() => {
    Object.assign(document.documentElement, { lang: language });
    Object.assign(document.documentElement.dataset, { contrast, motion, density });
  }, [language, contrast, motion, density]);
}
