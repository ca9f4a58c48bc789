import { useEffect, useImperativeHandle, useRef, type Ref } from 'react';
import { getNonce } from 'get-nonce';
import { CodeView, type CodeOptions } from './codeView';
import type { DefinitionProblem } from './types';
import classes from './Workflow.module.css';

/** The functions of the field that a page may call. */
export interface CodeFieldHandle {
  focus: () => void;
  goTo: (line: number, column: number) => void;
}

export interface CodeFieldProps extends Pick<CodeOptions, 'label' | 'describedBy' | 'words'> {
  value: string;
  set: (value: string) => void;
  /** The problems of the current text. The field marks them again when it gets another list. */
  problems?: readonly DefinitionProblem[];
  invalid?: boolean;
  ref?: Ref<CodeFieldHandle>;
}

const none: readonly DefinitionProblem[] = [];

/** A field for editing YAML. */
export function CodeField({ value, set, problems = none, invalid = false, label, describedBy, words, ref }: CodeFieldProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<CodeView>(null);
  const latest = useRef({ value, set, words });
  useEffect(() => {
    latest.current = { value, set, words };
  });
  useEffect(() => {
    if (!parent.current) return undefined;
    const created = new CodeView(parent.current, latest.current.value, {
      label, describedBy, nonce: getNonce() ?? '', words: (source, offset) => latest.current.words(source, offset), onChange: (source) => latest.current.set(source),
    });
    view.current = created;
    return () => { created.destroy(); view.current = null; };
  }, [label, describedBy]);
  useEffect(() => view.current?.setText(value), [value]);
  useEffect(() => view.current?.setInvalid(invalid), [invalid, label, describedBy]);
  useEffect(() => view.current?.mark(problems), [problems]);
  useImperativeHandle(ref, () => ({ focus: () => view.current?.focus(), goTo: (line, column) => view.current?.goTo(line, column) }), []);
  return <div className={classes.code} ref={parent} />;
}
