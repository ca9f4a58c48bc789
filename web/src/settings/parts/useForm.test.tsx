import { act, renderHook, waitFor } from '@testing-library/react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { expect, it } from 'vitest';
import { useForm } from './useForm';

interface Values {
  name: string;
  days: string[];
}

function begin(save: (values: Values) => Promise<Values>) {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>;
  return renderHook(() => useForm({
    initial: { name: 'Ada', days: ['mon'] },
    check: ({ name }) => (name === '' ? { name: 'needed' } : {}),
    save, stored: (values) => values, onSaved: () => undefined,
  }), { wrapper }).result;
}

it('goes on from what is stored, with what was changed while it was sent', async () => {
  let reply: (values: Values) => void = () => undefined;
  const form = begin(() => new Promise((resolve) => (reply = resolve)));
  act(() => form.current.set('name', ' Grace '));
  act(() => form.current.submit());
  await waitFor(() => expect(form.current.sending).toBe(true));
  act(() => form.current.set('days', ['tue']));
  act(() => reply({ name: 'Grace', days: ['mon'] }));
  await waitFor(() => expect(form.current.sending).toBe(false));
  expect(form.current.values).toEqual({ name: 'Grace', days: ['tue'] });
  expect(form.current.changed).toBe(true);
  act(() => form.current.reset());
  expect(form.current.values).toEqual({ name: 'Grace', days: ['mon'] });
  expect(form.current.changed).toBe(false);
});

it('names what is wrong only after the press, again after each save', async () => {
  const form = begin((values) => Promise.resolve(values));
  act(() => form.current.set('name', ''));
  expect(form.current.errors).toEqual({});
  act(() => form.current.submit());
  expect(form.current.errors).toEqual({ name: 'needed' });
  act(() => form.current.set('name', 'Grace'));
  act(() => form.current.submit());
  await waitFor(() => expect(form.current.changed).toBe(false));
  act(() => form.current.set('name', ''));
  expect(form.current.errors).toEqual({});
});
