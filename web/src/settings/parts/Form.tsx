import { useEffect, useRef, type ReactNode, type SubmitEvent } from 'react';

interface Props {
  form: { attempts: number; submit: (event?: SubmitEvent) => void };
  children: ReactNode;
}

/** A form that moves the focus to the first field that is wrong. */
export function Form({ form: { attempts, submit }, children }: Props) {
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (attempts > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [attempts]);
  return <form ref={element} onSubmit={submit} noValidate>{children}</form>;
}
