import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, render } from '@testing-library/react';
import type { ReactNode } from 'react';

/** Renders a component as the page does: with its styles, its queries and its links. */
export async function show(part: ReactNode) {
  const router = createRouter({ routeTree: createRootRoute({ component: () => part }), history: createMemoryHistory() });
  const shown = render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { enabled: false } } })}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  await act(() => router.load());
  return shown;
}
