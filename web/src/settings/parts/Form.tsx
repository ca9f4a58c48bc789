import { useEffect, useRef, type ReactNode, type SubmitEvent } from 'react';

interface Props {
  form: { tried: number; submit: (event?: SubmitEvent) => void };
  children: ReactNode;
}

/** A form that moves the focus to the first field that is wrong. */
export function Form({ form: { tried, submit }, children }: Props) {
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (tried > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [tried]);
  return <form ref={element} onSubmit={submit} noValidate>{children}</form>;
}
